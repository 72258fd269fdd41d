//! Function words of German, Spanish and French, which a query about anything has: as topics they would find by chance.
//!
//! Words are as the analyzer folds them: `fur` is "für", `etre` is "être".

/// The function words of one language.
struct Language {
    /// Those that no English or technical text has: each of them shows that a query is of this language.
    certain: &'static str,
    /// Those that are other words too (`war`, `comment`, `mit`, `todo`): they count in a query with a certain one.
    ambiguous: &'static str,
}

/// The languages of a query, by its certain function words.
pub(super) struct Languages {
    words: Vec<&'static str>,
}

impl Languages {
    /// Return the languages of which at least one certain function word is among the lower-case words of a query.
    pub(super) fn of<'a>(query: &(impl Iterator<Item = &'a str> + Clone)) -> Self {
        let mut words = Vec::new();
        for language in &LANGUAGES {
            let certain: Vec<&str> = language.certain.split_whitespace().collect();
            if query.clone().any(|word| certain.binary_search(&word).is_ok()) {
                words.extend(certain);
                words.extend(language.ambiguous.split_whitespace());
            }
        }
        Self { words }
    }

    /// Return true if a lower-case word is a function word of one of them.
    pub(super) fn have(&self, word: &str) -> bool {
        self.words.contains(&word)
    }

    /// Return true if a compound consists of function words of them, as written: `Est-ce`, not `est-lance` nor `to-do`.
    pub(super) fn have_parts_of(&self, compound: &str) -> bool {
        !self.words.is_empty()
            && compound.contains('-')
            && compound.to_lowercase().split('-').all(|part| self.have(part))
    }
}

/// Sorted, for binary search.
const LANGUAGES: [Language; 3] = [
    // German
    Language {
        certain: "
            aber als auch auf aus bei beim bis bist bitte danke dann das dass dein deine denn deren dessen dich diese
            diesem diesen dieser dieses doch durch durfen eine einem einen einer eines euch euer eure gegen habe haben
            hast hatte hatten hier ich ihm ihn ihnen ihr ihre ihrem ihren jede jedem jeden jeder jedes jetzt kann
            kannst kein keine keinen konnen konnte konnten mein meine meinem meinen meiner mich muss mussen nach nicht
            nichts noch nur oder ohne schon sehr sein seine seinem seinen seiner sich sie sind soll sollen sollst
            sollte sollten und uns unser unsere unserem unseren unserer vom von vor wann warum wegen weil welche
            welchem welchen welcher welches wem wen wenn wer werde werden weshalb wie wieder wieso willst wir wird
            wirst wo wurde wurden zu zum zur zwischen
        ",
        ambiguous: "
            da dem den der des die dir du ein er es fur hat im ist ja mal man mir mit ob uber unter war waren
        ",
    },
    // Spanish
    Language {
        certain: "
            ante aqui asi aunque cada cual cuales cuando cuanto cuantos debe debemos deben desde donde ella ellas
            ellos entre eres esa ese eso esos esta estamos estan estas esto estos estoy fue gracias hace hacer hacia
            hasta mas mucho muy nada nosotros nuestra nuestras nuestro nuestros otra otras otro otros pero porque
            puede pueden puedes puedo que quien quienes siempre sobre somos soy tambien tenemos tengo tiene tienen
            todas todos una unas unos usted ustedes vamos
        ",
        ambiguous: "
            al algo como con de del el en era es este favor ha han hay la las le lo los me mi mis ni nos para por se
            ser si sin solo son su sus te todo tu un uno y ya yo
        ",
    },
    // French
    Language {
        certain: "
            alors aussi avec avez avoir avons cela cet cette ceux chaque chez dans depuis doit doivent donc dont elle
            elles etait etes etre eux faire faut ici ils jusque leur leurs lui mais meme merci notre nous ont parce
            pas peut peuvent peux pourquoi puis quand quel quelle quelles quels qui quoi sommes sont sous suis tous
            toute toutes tres une voici voila votre vous
        ",
        ambiguous: "
            au aux ce ces comment de des du en est et fait il je la le les me mes moi mon ne nos ou par plus pour que
            sa sans se ses si son sur ta te tes toi ton tout tu un vos y
        ",
    },
];

#[cfg(test)]
mod tests {
    use super::{LANGUAGES, Languages};

    fn of(query: &str) -> Languages {
        Languages::of(&query.split(' '))
    }

    /// The lists are sorted without repetition, and no word is both certain and ambiguous.
    #[test]
    fn words_are_sorted() {
        for language in &LANGUAGES {
            let certain: Vec<&str> = language.certain.split_whitespace().collect();
            let ambiguous: Vec<&str> = language.ambiguous.split_whitespace().collect();
            assert!(certain.is_sorted_by(|a, b| a < b));
            assert!(ambiguous.is_sorted_by(|a, b| a < b));
            assert!(!ambiguous.iter().any(|word| certain.contains(word)));
        }
    }

    /// An ambiguous word counts beside a certain one of its language alone.
    #[test]
    fn ambiguous_words_need_a_certain_one() {
        assert!(of("wie war der port").have("war"));
        assert!(!of("the war room port").have("war"));
        assert!(of("comment lancer notre test").have("comment"));
        assert!(!of("comment style").have("comment"));
        assert!(!of("wie war der port").have("comment"));
        assert!(!of("").have("wir"));
        assert!(of("est ce que vous").have_parts_of("Est-ce"));
        assert!(!of("est ce que vous").have_parts_of("est-lance"));
        assert!(!of("the list").have_parts_of("to-do"));
    }
}
