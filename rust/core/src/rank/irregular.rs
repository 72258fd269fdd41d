//! Irregular English forms, which no rule of the stemmer reaches: `went` is found by `go`.
//!
//! Left out are forms that are as often another word: `lay`, `leaves`, `lives`, `wound`.

/// Return the base form of an irregular form, or None for any other word.
pub(super) fn base_form(word: &str) -> Option<&'static str> {
    let place = FORMS.binary_search_by_key(&word, |(form, _)| form).ok()?;
    Some(FORMS[place].1)
}

/// Pairs of a form and its base form.
macro_rules! pairs {
    ($($form:literal $base:literal),*) => { [$(($form, $base)),*] };
}

/// Forms and their base forms, sorted for binary search.
const FORMS: [(&str, &str); 139] = pairs![
    "ate" "eat", "beaten" "beat", "became" "become", "began" "begin", "begun" "begin", "bent" "bend", "bit" "bite",
    "bitten" "bite", "bled" "bleed", "blew" "blow", "blown" "blow", "bought" "buy", "bound" "bind", "bred" "breed",
    "broke" "break", "broken" "break", "brought" "bring", "built" "build", "came" "come", "caught" "catch",
    "children" "child", "chose" "choose", "chosen" "choose", "dealt" "deal", "drank" "drink", "drawn" "draw",
    "dreamt" "dream", "drew" "draw", "driven" "drive", "drove" "drive", "drunk" "drink", "dug" "dig", "eaten" "eat",
    "fallen" "fall", "fed" "feed", "feet" "foot", "fell" "fall", "felt" "feel", "flew" "fly", "flown" "fly",
    "forgave" "forgive", "forgiven" "forgive", "forgot" "forget", "forgotten" "forget", "fought" "fight",
    "found" "find", "froze" "freeze", "frozen" "freeze", "gave" "give", "given" "give", "gone" "go", "got" "get",
    "gotten" "get", "grew" "grow", "grown" "grow", "heard" "hear", "held" "hold", "hid" "hide", "hidden" "hide",
    "hung" "hang", "kept" "keep", "knew" "know", "knives" "knife", "known" "know", "laid" "lay", "lain" "lie",
    "learnt" "learn", "led" "lead", "left" "leave", "lent" "lend", "lit" "light", "lost" "lose", "made" "make",
    "meant" "mean", "men" "man", "met" "meet", "mice" "mouse", "paid" "pay", "people" "person", "proven" "prove",
    "ran" "run", "ridden" "ride", "risen" "rise", "rode" "ride", "rose" "rise", "said" "say", "sang" "sing",
    "sank" "sink", "sat" "sit", "saw" "see", "seen" "see", "sent" "send", "sewn" "sew", "shaken" "shake",
    "shook" "shake", "shot" "shoot", "shown" "show", "shrank" "shrink", "shrunk" "shrink", "slept" "sleep",
    "sold" "sell", "sought" "seek", "spent" "spend", "spoke" "speak", "spoken" "speak", "sprang" "spring",
    "sprung" "spring", "stole" "steal", "stolen" "steal", "stood" "stand", "struck" "strike", "stuck" "stick",
    "sung" "sing", "sunk" "sink", "swam" "swim", "swore" "swear", "sworn" "swear", "swum" "swim", "taken" "take",
    "taught" "teach", "teeth" "tooth", "thought" "think", "threw" "throw", "thrown" "throw", "told" "tell",
    "took" "take", "tore" "tear", "torn" "tear", "understood" "understand", "went" "go", "wives" "wife",
    "woke" "wake", "woken" "wake", "women" "woman", "won" "win", "wore" "wear", "worn" "wear", "written" "write",
    "wrote" "write"
];

#[cfg(test)]
mod tests {
    use super::{FORMS, base_form};

    /// Every form of the table is found, so it is sorted, and none is the base form of another.
    #[test]
    fn every_form_is_found() {
        for (form, base) in FORMS {
            assert_eq!(base_form(form), Some(base));
            assert_eq!(base_form(base), None, "{base}");
        }
        assert_eq!(base_form("walk"), None);
    }
}
