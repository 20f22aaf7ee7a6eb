//! Photos of phones, and files that only look like them.

use super::*;

fn segment(marker: u8, content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len() + 2).expect("short").to_be_bytes();
    [&[0xff, marker][..], &length, content].concat()
}

/// The structure of a JPEG of this size, with words before its pixels.
fn jpeg_with(width: u16, height: u16, words: &[u8]) -> Vec<u8> {
    let frame = [&[8][..], &height.to_be_bytes(), &width.to_be_bytes(), &[1, 1, 0x11, 0]].concat();
    let scan = [1, 1, 0, 0, 63, 0];
    [
        &[0xff, 0xd8][..],
        &segment(0xe0, b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0"),
        &segment(0xfe, words),
        &segment(0xc2, &frame),
        &segment(0xda, &scan),
        &[0x12, 0xff, 0x00, 0x34, 0xff, 0xd0, 0x56],
        &segment(0xc4, &[0; 17]),
        &segment(0xda, &scan),
        &[0x77, 0xff, 0xd9],
    ]
    .concat()
}

fn png_with(width: u32, height: u32) -> Vec<u8> {
    let chunk = |kind: &[u8], content: &[u8]| {
        let length = u32::try_from(content.len()).expect("short").to_be_bytes();
        [&length[..], kind, content, &[0; 4]].concat()
    };
    let head = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 2, 0, 0, 0]].concat();
    [PNG, &chunk(b"IHDR", &head), &chunk(b"IDAT", &[1, 2, 3]), &chunk(b"IEND", &[])].concat()
}

fn webp_with(width: u16, height: u16) -> Vec<u8> {
    let frame = [&[0, 0, 0, 0x9d, 0x01, 0x2a][..], &width.to_le_bytes(), &height.to_le_bytes()];
    let frame = frame.concat();
    let length = u32::try_from(frame.len()).expect("short");
    let whole = (4 + 8 + length).to_le_bytes();
    [b"RIFF", &whole[..], b"WEBPVP8 ", &length.to_le_bytes(), &frame].concat()
}

#[test]
fn the_three_kinds_are_told_by_their_content() {
    let jpeg = jpeg_with(4000, 3000, b"a pump");
    assert_eq!(check(&jpeg), Ok((PhotoKind::Jpeg, jpeg.as_slice())));
    let png = png_with(30, 20);
    assert_eq!(check(&png), Ok((PhotoKind::Png, png.as_slice())));
    let webp = webp_with(30, 20);
    assert_eq!(check(&webp), Ok((PhotoKind::Webp, webp.as_slice())));
}

/// Data that phones append is cut off: a film, a second picture, a trailer.
#[test]
fn what_phones_put_behind_a_picture_is_cut_off() {
    let jpeg = jpeg_with(4000, 3000, b"");
    let trailers: [&[u8]; 5] = [
        b"\0\0\0\x18ftypmp42 a film",
        b"\0\0\x30\x0a\x10\0\0\0MotionPhoto_Data\0\0\0\x18ftypmp42",
        b"\0\0\x01\x0a\x0e\0\0\0Image_UTC_Data1700000000000SEFHj\0SEFT",
        &[0xff, 0xd8, 0xff, 0xe0, 0, 2, 0xff, 0xd9],
        &[0; 100],
    ];
    for trailer in trailers {
        let sent = [&jpeg[..], trailer].concat();
        assert_eq!(check(&sent), Ok((PhotoKind::Jpeg, jpeg.as_slice())), "{trailer:?}");
    }
}

#[test]
fn a_file_that_is_two_things_is_refused() {
    let archive: &[u8] = b"PK\x03\x04\x14\0\0\0\x08\0 an archive PK\x05\x06";
    for picture in [jpeg_with(40, 30, b""), png_with(40, 30), webp_with(40, 30)] {
        for behind in [archive, b"<script>alert(1)</script>", b"Rar!\x1a\x07\x01\0", b"\x7fELF"] {
            let sent = [&picture[..], behind].concat();
            assert_eq!(check(&sent), Err(NoPhoto::Polyglot), "{behind:?}");
        }
    }
    for words in
        [&b"%PDF-1.7 1 0 obj"[..], b"<HTML><body>", b"*/=alert<ScRiPt>", b"<?php system(1)"]
    {
        assert_eq!(check(&jpeg_with(40, 30, words)), Err(NoPhoto::Polyglot), "{words:?}");
    }
}

#[test]
fn what_is_no_photo_is_refused_with_its_reason() {
    assert_eq!(check(b""), Err(NoPhoto::Empty));
    assert_eq!(check(&vec![0xff; MOST_BYTES + 1]), Err(NoPhoto::TooLarge));
    for other in [
        &b"<html>"[..],
        b"GIF89a\x01\0\x01\0",
        b"%PDF-1.7",
        b"MZ\x90\0",
        b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>",
        b"\0\0\0\x18ftypheic",
        b"RIFF\x24\0\0\0WAVEfmt ",
        b"II*\0",
    ] {
        assert_eq!(check(other), Err(NoPhoto::OtherKind), "{other:?}");
    }
    assert_eq!(check(&jpeg_with(0, 30, b"")), Err(NoPhoto::Damaged));
    assert_eq!(check(&png_with(60_000, 60_000)), Err(NoPhoto::TooManyPixels));
    assert_eq!(check(&jpeg_with(65_000, 65_000, b"")), Err(NoPhoto::TooManyPixels));
}

/// No cut of a file and no changed byte of its head makes the check read beyond the file or take
/// what it should not.
#[test]
fn broken_files_are_refused_and_break_nothing() {
    for whole in [jpeg_with(40, 30, b"words"), png_with(40, 30), webp_with(40, 30)] {
        for end in 1..whole.len() {
            assert!(check(&whole[..end]).is_err(), "{end} of {whole:?}");
        }
        for at in 0..whole.len() {
            for byte in [0, 1, 0x7f, 0x80, 0xff] {
                let mut changed = whole.clone();
                changed[at] = byte;
                let _any = check(&changed);
            }
        }
    }
}
