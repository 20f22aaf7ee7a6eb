-- Photos of a work order. The pictures are files beside the documents, named by photo_id; a row here is what
-- makes a file one of the plant. event_id: the judgement whose work the photo shows.
CREATE TABLE work_photos (
    photo_id    UUID   NOT NULL PRIMARY KEY,
    event_id    UUID   NOT NULL,
    kind        TEXT   NOT NULL,
    bytes       BIGINT NOT NULL,
    by_whom     TEXT   NOT NULL,
    at_ms       BIGINT NOT NULL
);
CREATE INDEX work_photos_of_event ON work_photos (event_id);
