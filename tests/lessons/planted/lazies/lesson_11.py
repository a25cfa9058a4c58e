"""The laziest ways through lesson 11: when the model does not fit."""

from tests.lessons.planted.lazies import cut_11, stages_11

TABLE = stages_11.TABLE | cut_11.TABLE
