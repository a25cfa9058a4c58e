"""The laziest ways through lesson 04: feeding."""

from tests.lessons.planted.lazy import LazyTable

TABLE: LazyTable = {}
