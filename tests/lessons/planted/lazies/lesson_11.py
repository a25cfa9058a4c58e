"""The laziest ways through lesson 11."""

from tests.lessons.planted.lazies import cut_11
from tests.lessons.planted.lazy import LazyTable

TABLE: LazyTable = cut_11.TABLE
