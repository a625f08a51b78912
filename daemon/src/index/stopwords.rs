//! English words too common to tell texts apart.

/// Whether `word`, in lower case, is a stop word.
pub(super) fn contains(word: &str) -> bool {
    WORDS.binary_search(&word).is_ok()
}

/// The stop words of the Snowball project, sorted, with two more auxiliaries and without
/// the words of time, place, amount and negation: these tell one short text from another.
#[rustfmt::skip]
const WORDS: [&str; 140] = [
    "a", "about", "am", "an", "and", "are", "aren't", "as", "at", "be", "because", "been",
    "being", "but", "by", "can", "can't", "cannot", "could", "couldn't", "did", "didn't", "do",
    "does", "doesn't", "doing", "don't", "for", "from", "had", "hadn't", "has", "hasn't",
    "have", "haven't", "having", "he", "he'd", "he'll", "he's", "her", "here", "here's",
    "hers", "herself", "him", "himself", "his", "how", "how's", "i", "i'd", "i'll", "i'm",
    "i've", "if", "in", "into", "is", "isn't", "it", "it's", "its", "itself", "let's", "me",
    "mustn't", "my", "myself", "of", "on", "or", "ought", "our", "ours", "ourselves", "shan't",
    "she", "she'd", "she'll", "she's", "should", "shouldn't", "so", "such", "that", "that's",
    "the", "their", "theirs", "them", "themselves", "then", "there", "there's", "these",
    "they", "they'd", "they'll", "they're", "they've", "this", "those", "to", "was", "wasn't",
    "we", "we'd", "we'll", "we're", "we've", "were", "weren't", "what", "what's", "when",
    "when's", "where", "where's", "which", "while", "who", "who's", "whom", "why", "why's",
    "will", "with", "won't", "would", "wouldn't", "you", "you'd", "you'll", "you're", "you've",
    "your", "yours", "yourself", "yourselves",
];

#[cfg(test)]
mod tests {
    #[test]
    fn the_list_is_sorted() {
        assert!(super::WORDS.is_sorted());
    }
}
