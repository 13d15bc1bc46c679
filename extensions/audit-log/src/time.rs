//! Times for people.

/// `2026-03-01 12:00:00`, of milliseconds since 1970, in UTC.
pub(crate) fn shown(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    // Days are counted in eras of 400 years that begin in March, so that the day that leap years add is the last of a year.
    let days = days + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02} {:02}:{:02}:{:02}", of_day / 3600, of_day / 60 % 60, of_day % 60)
}

#[cfg(test)]
#[path = "time_tests.rs"]
mod tests;
