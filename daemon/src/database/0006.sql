-- The project of the task that an outcome tells of: a note that helps in several is worth more.

ALTER TABLE outcome ADD COLUMN project TEXT;
