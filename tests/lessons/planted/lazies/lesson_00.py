"""The laziest ways through lesson 00: where a job runs."""

from tests.lessons.planted.lazy import LazyTable

TABLE: LazyTable = {}
