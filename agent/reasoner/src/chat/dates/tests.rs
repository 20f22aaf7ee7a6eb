//! Days, hours and weekends as people name them.

use super::*;

fn told(clause: &str) -> Option<String> {
    // a Thursday
    let today = NaiveDate::from_ymd_opt(2026, 11, 26)?;
    span_in(clause, today).map(Span::in_words)
}

#[test]
fn days_are_read_as_people_name_them() {
    for (clause, days) in [
        ("P-101의 11월 20일 RMS", "2026-11-20"),
        ("2026-11-20 값", "2026-11-20"),
        ("2026년 11월 20일에", "2026-11-20"),
        ("12월 3일", "2025-12-03"),
        ("23일날 첨도", "2026-11-23"),
        ("on 20 November", "2026-11-20"),
        ("on November 20th", "2026-11-20"),
        ("the 20th of Nov", "2026-11-20"),
        ("Nov 20, 2025", "2025-11-20"),
        ("어제", "2026-11-25"),
        ("3일 전", "2026-11-23"),
        ("3 days ago", "2026-11-23"),
        ("이번 주에", "2026-11-23 – 2026-11-26"),
        ("last week", "2026-11-16 – 2026-11-22"),
        ("지난달", "2026-10-01 – 2026-10-31"),
        ("지난 30일", "2026-10-27 – 2026-11-26"),
        ("in the last 24 hours", "2026-11-25 – 2026-11-26"),
        ("11/20", "2026-11-20"),
        ("anything new since Monday?", "2026-11-23 – 2026-11-26"),
        ("월요일부터", "2026-11-23 – 2026-11-26"),
        ("since 20 November", "2026-11-20 – 2026-11-26"),
        ("what happened overnight", "2026-11-25 – 2026-11-26"),
        ("on Friday", "2026-11-20"),
    ] {
        assert_eq!(told(clause).as_deref(), Some(days), "{clause}");
    }
}

#[test]
fn hours_are_read_as_people_name_them() {
    for (clause, hour) in [
        ("새벽 3시에 누구한테", Some(3)),
        ("밤 11시", Some(23)),
        ("밤 12시 당직", Some(0)),
        ("at 12 am", Some(0)),
        ("who is on at 3 am", Some(3)),
        ("at 10 pm", Some(22)),
        ("at 22:00", Some(22)),
        ("tonight", Some(0)),
        ("3시간 뒤", None),
        ("P-101", None),
    ] {
        assert_eq!(hour_in(clause), hour, "{clause}");
    }
}

#[test]
fn days_ahead_are_read_as_people_name_them() {
    let today = NaiveDate::from_ymd_opt(2026, 11, 26).expect("a Thursday");
    for (clause, day) in [
        ("and tomorrow?", Some("2026-11-27")),
        ("모레 당직", Some("2026-11-28")),
        ("토요일 당직 누구", Some("2026-11-28")),
        ("who is on call this weekend", Some("2026-11-28")),
        ("on Thursday", Some("2026-11-26")),
        ("12월 3일 당직", Some("2026-12-03")),
        ("P-101", None),
    ] {
        let told = day_ahead_in(clause, today).map(|day| day.to_string());
        assert_eq!(told.as_deref(), day, "{clause}");
    }
}

#[test]
fn what_is_no_day_is_none() {
    for clause in [
        "P-101 상태",
        "6205 베어링",
        "M12 85 N·m",
        "may it run?",
        "2월 31일",
        "stage 3",
        "1.5/2.5 mm",
        "gw-03",
        "7일 이내",
    ] {
        assert_eq!(told(clause), None, "{clause}");
    }
}

/// R-CHAT-5: a weekend is its Saturday and Sunday, and what is compared with a day has changed
/// since it.
#[test]
fn weekends_comparisons_and_longer_periods_are_read() {
    let on = |day: u32, clause: &str| {
        let today = NaiveDate::from_ymd_opt(2026, 11, day).expect("a day");
        span_in(clause, today).map(Span::in_words)
    };
    for (day, clause, days) in [
        (28, "주말 사이 새 경보", Some("2026-11-28")),
        (29, "anything new at the weekend", Some("2026-11-28 – 2026-11-29")),
        (26, "이번 주말에 생긴 경보", Some("2026-11-21 – 2026-11-22")),
        (26, "over the weekend", Some("2026-11-21 – 2026-11-22")),
        (28, "last weekend", Some("2026-11-21 – 2026-11-22")),
        (26, "주말까지 버틸까", None),
        (26, "can it run until the weekend", None),
        (26, "어제 대비 변화", Some("2026-11-25 – 2026-11-26")),
        (26, "compared with yesterday", Some("2026-11-25 – 2026-11-26")),
        (26, "지난 2주 동안", Some("2026-11-12 – 2026-11-26")),
        (26, "in the last 3 months", Some("2026-08-26 – 2026-11-26")),
        (26, "올해 경보", Some("2026-01-01 – 2026-11-26")),
        (26, "last year", Some("2025-01-01 – 2025-12-31")),
    ] {
        assert_eq!(on(day, clause).as_deref(), days, "{clause}");
    }
    assert!(unread("지난 분기 경보", None, Language::Ko).is_some_and(|told| told.contains("분기")));
    assert_eq!(unread("last quarter", Some(Span::day(NaiveDate::MIN)), Language::En), None);
}
