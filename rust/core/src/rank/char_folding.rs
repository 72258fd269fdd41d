//! Case and accent folding of characters, and which scripts are written without spaces.

/// Append the character to `folded` in lower case, without its accent and at normal width (`É` -> `e`, `ß` -> `ss`).
pub(super) fn fold_into(character: char, folded: &mut String) {
    match character {
        'ß' | 'ẞ' => folded.push_str("ss"),
        'æ' | 'Æ' => folded.push_str("ae"),
        'œ' | 'Œ' => folded.push_str("oe"),
        'ς' => folded.push('σ'),
        '\u{ff10}'..='\u{ff5a}' => folded.extend(half_width(character).to_lowercase()),
        _ => folded.extend(character.to_lowercase().filter(|lower| !is_ignored(*lower)).map(without_accent)),
    }
}

/// Return true if a character is a combining mark or an invisible formatting hint (soft hyphen, zero-width joiner).
///
/// Such characters neither end a word nor count in it: decomposed `cafe\u{301}` is found as `cafe`.
pub(super) fn is_ignored(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5bd}' | '\u{610}'..='\u{61a}'
        | '\u{640}' | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{93c}' | '\u{94d}' | '\u{9cd}' | '\u{a4d}' | '\u{acd}'
        | '\u{bcd}' | '\u{c4d}' | '\u{ccd}' | '\u{d4d}' | '\u{e47}'..='\u{e4e}' | '\u{ec8}'..='\u{ecd}'
        | '\u{1039}' | '\u{103a}' | '\u{17d2}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{200c}' | '\u{200d}' | '\u{20d0}'..='\u{20ff}' | '\u{3099}' | '\u{309a}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{fe20}'..='\u{fe2f}')
}

/// Return true if the character's script has no spaces between words: Han, kana, Hangul, Thai, Lao, Burmese, Khmer.
pub(super) fn is_unspaced(character: char) -> bool {
    matches!(character, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Return true for a pictograph that people write in place of a word; skin tones are no word of their own.
pub(super) fn is_emoji(character: char) -> bool {
    matches!(character, '©' | '®' | '‼' | '⁉' | '™' | '\u{2194}'..='\u{21aa}' | '\u{2300}'..='\u{23ff}'
        | '\u{25aa}'..='\u{25ab}' | '▶' | '◀' | '\u{25fb}'..='\u{27bf}' | '\u{2934}'..='\u{2935}'
        | '\u{2b00}'..='\u{2bff}' | '〰' | '〽' | '㊗' | '㊙' | '\u{1f000}'..='\u{1f3fa}' | '\u{1f400}'..='\u{1faff}')
}

/// The ASCII form of a full-width digit or letter (U+FF10 to U+FF5A).
fn half_width(character: char) -> char {
    char::from_u32(u32::from(character) - 0xfee0).unwrap_or(character)
}

/// The base letter of an accented Latin letter; any other character unchanged.
fn without_accent(character: char) -> char {
    match character {
        'à'..='å' | 'ā' | 'ă' | 'ą' => 'a',
        'ç' | 'ć' | 'ĉ' | 'ċ' | 'č' => 'c',
        'ď' | 'đ' => 'd',
        'è'..='ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' => 'e',
        'ĝ' | 'ğ' | 'ġ' | 'ģ' => 'g',
        'ĥ' | 'ħ' => 'h',
        'ì'..='ï' | 'ĩ' | 'ī' | 'ĭ' | 'į' | 'ı' => 'i',
        'ĵ' => 'j',
        'ķ' => 'k',
        'ĺ' | 'ļ' | 'ľ' | 'ł' => 'l',
        'ñ' | 'ń' | 'ņ' | 'ň' => 'n',
        'ò'..='ö' | 'ø' | 'ō' | 'ŏ' | 'ő' => 'o',
        'ŕ' | 'ŗ' | 'ř' => 'r',
        'ś' | 'ŝ' | 'ş' | 'š' | 'ș' => 's',
        'ţ' | 'ť' | 'ŧ' | 'ț' => 't',
        'ù'..='ü' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' => 'u',
        'ŵ' => 'w',
        'ý' | 'ÿ' | 'ŷ' => 'y',
        'ź' | 'ż' | 'ž' => 'z',
        other => other,
    }
}
