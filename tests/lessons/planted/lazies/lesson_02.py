"""The laziest ways through lesson 02: the serial baseline."""

from tests.lessons.planted.lazy import LazyTable

TABLE: LazyTable = {}
