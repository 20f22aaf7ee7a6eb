//! A document of numbered articles: a contract in Markdown.
//!
//! ```markdown
//! # 데이터 제공 계약서
//! ## 제5조 (데이터 제공)
//! ① 제공자는 …
//! ② …
//! ## 별지1 데이터 목록
//! ```
//!
//! An article's number is that of its heading, an exhibit's the negative of its own. Each paragraph
//! below the heading is one clause.

/// One article or exhibit.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Article {
    /// The number; an exhibit's is negative.
    pub article_no: i64,
    /// The title without its number; an exhibit's with it.
    pub title: String,
    /// The clauses.
    pub content: Vec<String>,
}

/// The articles of a document, in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Articles {
    /// The document's title.
    pub title: String,
    /// The articles.
    pub articles: Vec<Article>,
}

impl Articles {
    /// Reads a document.
    ///
    /// # Errors
    /// The line, from 1, and what is wrong with it.
    pub fn read(text: &str) -> Result<Self, (usize, String)> {
        let mut read = Self { title: String::new(), articles: Vec::new() };
        let mut is_open = false;
        for (index, line) in text.lines().enumerate() {
            let number = index + 1;
            let line = line.trim();
            if let Some(heading) = line.strip_prefix("## ") {
                let article = heading_of(heading.trim()).ok_or_else(|| {
                    (number, format!("is {heading:?}, expected 제N조 (제목) or 별지N 제목"))
                })?;
                if read.articles.iter().any(|known| known.article_no == article.article_no) {
                    return Err((number, format!("{heading:?}: the number is there twice")));
                }
                read.articles.push(article);
                is_open = false;
            } else if let Some(title) = line.strip_prefix("# ") {
                title.trim().clone_into(&mut read.title);
            } else if line.is_empty() {
                is_open = false;
            } else if let Some(article) = read.articles.last_mut() {
                match article.content.last_mut().filter(|_| is_open && !begins_clause(line)) {
                    Some(clause) => {
                        clause.push(' ');
                        clause.push_str(line);
                    }
                    None => article.content.push(line.to_owned()),
                }
                is_open = true;
            }
        }
        if read.title.is_empty() {
            return Err((1, "has no title (a line with # )".to_owned()));
        }
        match read.articles.iter().find(|article| article.content.is_empty()) {
            _ if read.articles.is_empty() => Err((1, "has no article (## 제N조 …)".to_owned())),
            Some(empty) => Err((1, format!("article {:?} has no text", empty.title))),
            None => Ok(read),
        }
    }

    /// The article of a number.
    pub fn numbered(&self, number: i64) -> Option<&Article> {
        self.articles.iter().find(|article| article.article_no == number)
    }
}

/// Whether a line begins a clause of its own: ①, 1., -, a Korean item.
fn begins_clause(line: &str) -> bool {
    let mut chars = line.chars();
    match chars.next() {
        Some('①'..='⑳' | '-' | '*' | '|') => true,
        Some(first) if first.is_ascii_digit() => {
            chars.find(|c| !c.is_ascii_digit()).is_some_and(|c| c == '.' || c == ')')
        }
        _ => false,
    }
}

fn heading_of(heading: &str) -> Option<Article> {
    let article = |article_no, title: &str| {
        let title = title.trim();
        (!title.is_empty() && article_no != 0).then(|| Article {
            article_no,
            title: title.to_owned(),
            content: Vec::new(),
        })
    };
    if let Some(rest) = heading.strip_prefix("별지") {
        let (number, _) = number_of(rest.trim_start())?;
        return article(-number, heading);
    }
    let (number, rest) = number_of(heading.strip_prefix("제")?.trim_start())?;
    let title = rest.trim_start().strip_prefix("조")?.trim();
    let inner = title.strip_prefix('(').and_then(|title| title.strip_suffix(')'));
    article(number, inner.unwrap_or(title))
}

fn number_of(text: &str) -> Option<(i64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SMALL: &str = "# 계약서\n\n머리말\n\n## 제5조 (데이터 제공)\n① 제공자는\n제공한다.\n② 둘째\n\n\
                         ## 별지1 데이터 목록\n- 하나\n- 둘\n";

    #[test]
    fn articles_have_their_number_and_exhibits_its_negative() {
        let read = Articles::read(SMALL).expect("right");
        assert_eq!(read.articles.len(), 2);
        let fifth = read.numbered(5).expect("there");
        assert_eq!(fifth.title, "데이터 제공");
        assert_eq!(fifth.content, ["① 제공자는 제공한다.", "② 둘째"]);
        let exhibit = read.numbered(-1).expect("there");
        assert_eq!((exhibit.title.as_str(), exhibit.content.len()), ("별지1 데이터 목록", 2));
    }

    #[test]
    fn a_wrong_heading_is_told_with_its_line() {
        for (text, line) in [
            ("# a\n## 목적\nx\n", 2),
            ("# a\n## 제1조 (가)\nx\n## 제1조 (나)\nx\n", 4),
            ("## 제1조 (가)\nx\n", 1),
            ("# a\n", 1),
            ("# a\n## 제1조 (가)\n", 1),
        ] {
            assert_eq!(Articles::read(text).expect_err(text).0, line, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_reader(text in "(## |# |제|별지|[0-9]{1,22}|조|①|\n|\\PC){0,40}") {
            let _read = Articles::read(&text);
        }
    }
}
