//! Finds the numbers and identifiers of a line.

use super::currency::Currency;
use super::dates::{date_end, is_year, month_first};
use super::glyphs::{Glyphs, is_cjk, is_word};
use super::number::{Digits, Number};
use super::words;
use rust_decimal::Decimal;

/// Something in a line that needs a source.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    /// As written.
    pub(crate) text: String,
    /// What it is.
    pub(crate) what: What,
}

/// A figure.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum What {
    /// A number.
    Number(Number),
    /// An identifier, in its plain form.
    Identifier(String),
}

/// Numbers and identifiers of a line, in order. Dates, times, periods, file names, addresses and section numbers are
/// left out; years are marked.
pub(crate) fn scan(line: &str) -> Vec<Found> {
    if !line.chars().any(|character| character.is_numeric() || words::is_numeral(character)) {
        return Vec::new();
    }
    let glyphs = Glyphs::of(line);
    let mut scanner = Scanner { line, glyphs: &glyphs, at: 0, found: Vec::new(), currency: None };
    scanner.run();
    scanner.found
}

struct Scanner<'a> {
    line: &'a str,
    glyphs: &'a Glyphs,
    at: usize,
    found: Vec<Found>,
    /// Currency word that ended here.
    currency: Option<(usize, Currency)>,
}

impl Scanner<'_> {
    fn run(&mut self) {
        while let Some(character) = self.glyphs.at(self.at) {
            if character == ']' && self.glyphs.at(self.at + 1) == Some('(') {
                self.skip_to(|next| next == ')');
            } else if character.is_ascii_digit() {
                self.digit();
            } else if is_word(character) {
                self.word();
            } else if let Some((value, end)) = words::numeral(&self.glyphs.plain, self.at) {
                self.push_value(value, end);
            } else {
                if let Some((currency, length)) = Currency::at_start(&self.glyphs.plain[self.at..]) {
                    self.currency = Some((self.at + length, currency));
                    self.at += length - 1;
                }
                self.at += 1;
            }
        }
    }

    fn skip_to(&mut self, stop: impl Fn(char) -> bool) {
        while let Some(next) = self.glyphs.at(self.at) {
            self.at += 1;
            if stop(next) {
                return;
            }
        }
    }

    /// A token: letters and digits, joined by single connectors.
    fn token_end(&self) -> usize {
        let mut end = self.at;
        while let Some(next) = self.glyphs.at(end) {
            let joins = matches!(next, '-' | '_' | '/' | '.' | '@' | '#' | '+' | '&')
                && end > self.at
                && self.glyphs.at(end + 1).is_some_and(is_word);
            if !is_word(next) && !joins {
                break;
            }
            end += 1;
        }
        end
    }

    fn digit(&mut self) {
        let text = &self.glyphs.plain;
        if let Some(end) = date_end(text, self.at) {
            self.at = end;
            return;
        }
        if let Some(end) = account_end(text, self.at) {
            self.push_identifier(self.at, end);
            return;
        }
        let end = self.token_end();
        let token: String = text[self.at..end].iter().collect();
        if token.chars().all(|character| character.is_ascii_digit() || character == '.') {
            self.number(self.at);
            return;
        }
        match Token::of(&token) {
            Token::Left => self.at = end,
            Token::Identifier => self.push_identifier(self.at, end),
            // The first part; the rest is looked at next.
            Token::Parts | Token::Unit => self.number(self.at),
        }
    }

    fn word(&mut self) {
        let text = &self.glyphs.plain;
        if let Some(end) = month_first(text, self.at) {
            self.at = end;
            return;
        }
        let end = self.token_end();
        let token: String = text[self.at..end].iter().collect();
        let lower = token.to_lowercase();
        if matches!(lower.as_str(), "http" | "https" | "ftp" | "mailto" | "file")
            && self.glyphs.at(end) == Some(':')
        {
            self.skip_to(|next| {
                next.is_whitespace() || matches!(next, ')' | '>' | '"' | '|' | '，' | '。') || is_cjk(next)
            });
            return;
        }
        if matches!(lower.as_str(), "utc" | "gmt" | "utf")
            || lower.starts_with("utc+")
            || lower.starts_with("gmt+")
        {
            self.at = end + usize::from(matches!(self.glyphs.at(end), Some('+' | '-')));
            while self.glyphs.at(self.at).is_some_and(|next| next.is_ascii_digit() || next == ':') {
                self.at += 1;
            }
            return;
        }
        let letters = token.chars().take_while(|character| !character.is_ascii_digit()).count();
        let head: String = token.chars().take(letters).collect();
        if let Some(currency) = Currency::of_word(head.trim_end_matches(['-', '+'])) {
            let behind = self.at + head.trim_end_matches(['-', '+']).chars().count();
            self.currency = Some((behind, currency));
            self.at = if letters == token.chars().count() { end } else { behind };
            return;
        }
        match Token::of(&token) {
            Token::Left => self.at = end,
            Token::Identifier => self.push_identifier(self.at, end),
            Token::Parts | Token::Unit => self.at += letters,
        }
    }

    fn push_identifier(&mut self, from: usize, end: usize) {
        let plain: String =
            self.glyphs.plain[from..end].iter().filter(|character| **character != ' ').collect();
        let text = self.glyphs.original(self.line, from, end).to_owned();
        self.found.push(Found { text, what: What::Identifier(plain) });
        self.at = end;
    }

    fn push_value(&mut self, value: Decimal, end: usize) {
        let currency = Currency::at_start(&self.glyphs.plain[end..]).map(|(currency, _)| currency);
        let reading = super::number::Reading { value, unit: Decimal::ONE };
        let digits = u32::try_from(value.normalize().to_string().len()).unwrap_or(u32::MAX);
        let number = Number {
            readings: vec![reading],
            digits,
            decimals: 0,
            percent: false,
            currency,
            year_like: false,
        };
        let text = self.glyphs.original(self.line, self.at, end).to_owned();
        self.found.push(Found { text, what: What::Number(number) });
        self.at = end;
    }

    /// A number whose first digit stands at `first`, with sign, currency and scale around it.
    fn number(&mut self, first: usize) {
        let text = &self.glyphs.plain;
        let Some(digits) = Digits::at(text, first) else {
            self.at = self.token_end().max(first + 1);
            return;
        };
        let (start, negative, mut currency) = self.before(first);
        let behind = Behind::at(text, digits.end);
        currency = currency.or(behind.currency);
        let is_marked = currency.is_some() || behind.percent || behind.scale != Decimal::ONE;
        let long = digits.run().len() >= 8 || (digits.run().len() > 1 && digits.run().starts_with('0'));
        if digits.is_bare && long && !is_marked {
            self.push_identifier(first, digits.end);
            return;
        }
        let mut readings = digits.readings(negative, behind.scale);
        if let Some(scale) = behind.other_scale {
            readings.extend(digits.readings(negative, scale));
        }
        if readings.is_empty() {
            self.push_identifier(first, digits.end);
            return;
        }
        let year_like = digits.is_bare
            && !is_marked
            && !negative
            && digits.run().len() == 4
            && digits.run().parse().is_ok_and(is_year)
            && !words::counts_follow(text, digits.end);
        let number = Number {
            readings,
            digits: digits.significant(),
            decimals: digits.decimals(),
            percent: behind.percent,
            currency,
            year_like,
        };
        let written = self.glyphs.original(self.line, start, behind.written).to_owned();
        self.found.push(Found { text: written, what: What::Number(number) });
        self.at = behind.end;
    }

    /// Sign and currency before a number: where it begins, whether it is negative, its currency.
    fn before(&self, first: usize) -> (usize, bool, Option<Currency>) {
        let at = |back: usize| first.checked_sub(back).and_then(|at| self.glyphs.at(at));
        let (mut back, mut negative, mut currency) = (0, false, None);
        for _ in 0..2 {
            match at(back + 1) {
                Some('-')
                    if !at(back + 2).is_some_and(|before| is_word(before) || matches!(before, ')' | '-')) =>
                {
                    negative = true;
                    back += 1;
                }
                Some('+') => back += 1,
                Some(sign) => match Currency::of_sign(sign) {
                    Some(found) => {
                        currency = Some(found);
                        back += 1;
                    }
                    None => break,
                },
                None => break,
            }
        }
        let start = first - back;
        if currency.is_none() {
            let mut sign_at = start.checked_sub(1);
            if sign_at.is_some_and(|at| matches!(self.glyphs.at(at), Some(' ' | '\u{A0}'))) {
                sign_at = start.checked_sub(2);
            }
            currency = sign_at.and_then(|at| self.glyphs.at(at)).and_then(Currency::of_sign);
            if currency.is_none()
                && let Some((end, word)) = self.currency
                && end <= start
                && self.glyphs.plain[end..start]
                    .iter()
                    .all(|between| matches!(between, ' ' | '\u{A0}' | ':' | '：' | '*'))
            {
                currency = Some(word);
            }
        }
        (start, negative, currency)
    }
}

/// What stands behind a number: scale, per cent sign, unit, currency.
struct Behind {
    end: usize,
    /// Where the number as written ends.
    written: usize,
    scale: Decimal,
    other_scale: Option<Decimal>,
    percent: bool,
    currency: Option<Currency>,
}

impl Behind {
    fn at(text: &[char], end: usize) -> Self {
        let mut behind = Self {
            end,
            written: end,
            scale: Decimal::ONE,
            other_scale: None,
            percent: false,
            currency: None,
        };
        let gap = end + usize::from(matches!(text.get(end), Some(' ' | '\u{A0}')));
        if let Some((scale, length)) = words::scale(&text[gap.min(text.len())..]) {
            behind.scale = scale;
            behind.end = gap + length;
            behind.written = behind.end;
        }
        let gap = behind.end + usize::from(matches!(text.get(behind.end), Some(' ' | '\u{A0}')));
        match text.get(gap) {
            Some('%') => {
                behind.percent = true;
                behind.end = gap + 1;
                behind.written = behind.end;
            }
            Some(sign)
                if Currency::of_sign(*sign).is_some()
                    && !text.get(gap + 1).is_some_and(char::is_ascii_digit) =>
            {
                behind.currency = Currency::of_sign(*sign);
                behind.end = gap + 1;
                behind.written = behind.end;
            }
            Some(letter) if letter.is_ascii_alphabetic() => behind.latin(text, gap),
            Some(_) | None => {
                if let Some((currency, length)) = Currency::at_start(&text[gap.min(text.len())..]) {
                    behind.currency = Some(currency);
                    behind.end = gap + length;
                } else if words::percent_word(&text[gap.min(text.len())..]) {
                    behind.percent = true;
                    behind.end = gap + 4;
                }
            }
        }
        behind
    }

    /// A word behind the number: a currency, a scale, per cent, or a unit written onto it.
    fn latin(&mut self, text: &[char], from: usize) {
        let word: String =
            text[from..].iter().take_while(|character| character.is_ascii_alphabetic()).collect();
        let end = from + word.len();
        if text.get(end).is_some_and(char::is_ascii_digit) {
            return;
        }
        if let Some(currency) = Currency::of_word(&word) {
            self.currency = Some(currency);
            self.end = end;
        } else if matches!(word.as_str(), "percent" | "pct") {
            self.percent = true;
            self.end = end;
        } else if from == self.end {
            self.other_scale = words::letter_scale(&word);
            self.end = end;
        }
    }
}

/// Groups of four digits with single blanks between, twelve digits or more: an account or card number.
fn account_end(text: &[char], from: usize) -> Option<usize> {
    let (mut at, mut digits, mut groups) = (from, 0, 0);
    loop {
        let run = text[at.min(text.len())..]
            .iter()
            .take(5)
            .take_while(|character| character.is_ascii_digit())
            .count();
        if run == 0 || run > 4 {
            return None;
        }
        digits += run;
        groups += 1;
        let continues =
            text.get(at + run) == Some(&' ') && text.get(at + run + 1).is_some_and(char::is_ascii_digit);
        if run < 4 || !continues {
            let ends = !text.get(at + run).is_some_and(|next| is_word(*next) || matches!(next, ',' | '.'));
            return (groups >= 3 && digits >= 12 && ends).then_some(at + run);
        }
        at += run + 1;
    }
}

/// What a run of letters, digits and connectors is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    /// Not looked at: a word, a file name, an address, a period, a version.
    Left,
    /// Needs an equal token in a result.
    Identifier,
    /// Its numbers stand for themselves: `30-day`, `37/38`.
    Parts,
    /// A number with a unit: `12kg`.
    Unit,
}

impl Token {
    fn of(token: &str) -> Self {
        let has_digit = token.bytes().any(|byte| byte.is_ascii_digit());
        let has_letter = token.chars().any(|character| character.is_alphabetic());
        if !has_digit
            || token.contains('@')
            || words::is_file_name(token)
            || words::is_period(token)
            || words::is_version(token)
        {
            return Self::Left;
        }
        let segments: Vec<&str> = token.split(['-', '_', '/', '#', '+', '&']).collect();
        let is_number = |segment: &str| segment.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let long = |segment: &str| {
            let whole = segment.split('.').next().unwrap_or("");
            (whole.len() > 1 && whole.starts_with('0')) || whole.len() >= 8
        };
        if !has_letter {
            let digits = token.bytes().filter(u8::is_ascii_digit).count();
            let is_code =
                segments.iter().any(|segment| long(segment)) || (digits >= 8 && !token.contains('.'));
            return if is_code && segments.len() > 1 { Self::Identifier } else { Self::Parts };
        }
        if segments.len() == 1 && words::has_unit(token) {
            return Self::Unit;
        }
        let plain_word = |segment: &&str| {
            segment.chars().all(char::is_alphabetic)
                && segment.chars().count() >= 3
                && segment.chars().skip(1).all(char::is_lowercase)
        };
        let simple = segments.iter().all(|segment| {
            plain_word(segment)
                || (is_number(segment) && !long(segment) && segment.len() <= 6)
                || words::has_unit(segment)
        });
        let short = token.chars().count() <= 2;
        match (simple && segments.len() > 1, short) {
            (true, _) => Self::Parts,
            (false, true) => Self::Left,
            (false, false) => Self::Identifier,
        }
    }
}

/// The tokens of a text that an identifier may equal: whole, the parts of a path, and names without their ending.
pub(crate) fn tokens(line: &str, mut each: impl FnMut(String)) {
    if !line.chars().any(char::is_numeric) {
        return;
    }
    let glyphs = Glyphs::of(line);
    let mut scanner = Scanner { line, glyphs: &glyphs, at: 0, found: Vec::new(), currency: None };
    while let Some(character) = glyphs.at(scanner.at) {
        if !is_word(character) {
            scanner.at += 1;
            continue;
        }
        if let Some(end) = account_end(&glyphs.plain, scanner.at) {
            each(glyphs.plain[scanner.at..end].iter().filter(|character| **character != ' ').collect());
        }
        let end = scanner.token_end();
        let token: String = glyphs.plain[scanner.at..end].iter().collect();
        if token.bytes().any(|byte| byte.is_ascii_digit()) {
            for part in token.split('/').chain(token.contains('/').then_some(token.as_str())) {
                each(part.to_owned());
                if let Some((stem, _)) = part.rsplit_once('.').filter(|_| words::is_file_name(part)) {
                    each(stem.to_owned());
                    stem.split('_').filter(|piece| *piece != stem).for_each(|piece| each(piece.to_owned()));
                }
            }
        }
        scanner.at = end.max(scanner.at + 1);
    }
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
