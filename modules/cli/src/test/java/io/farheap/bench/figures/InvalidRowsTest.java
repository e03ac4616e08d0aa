package io.farheap.bench.figures;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which fields an invalid row must not have, and which rows were not judged. */
class InvalidRowsTest {

    private static JsonObject row(String fields) {
        return JsonParser.parseString("{" + fields + "}").getAsJsonObject();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ratio",
                "ratio_p50",
                "batched_over_list",
                "gain",
                "read_drop_pct",
                "memcpy_write_drop_pct",
                "write_drop_pct_p25"
            })
    void aComparisonOfMeasuredValuesIsARatio(String field) {
        assertTrue(InvalidRows.ratio(field));
        assertEquals(List.of(field), InvalidRows.ratios(row("'" + field + "': 26, 'invalid': true")));
        assertEquals(List.of(), InvalidRows.ratios(row("'" + field + "': null, 'invalid': true")));
        assertEquals(List.of(), InvalidRows.ratios(row("'" + field + "': 26, 'invalid': false")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"p50_ns", "paper_ratio_p50", "computed_ratio", "dropped", "cpu_overhead", "recovery_ms"})
    void otherFieldsAreNot(String field) {
        assertFalse(InvalidRows.ratio(field));
    }

    @Test
    void aRowWithoutAPercentageWasNotJudged() {
        assertTrue(InvalidRows.notJudged(row("'late_pct': null")));
        assertTrue(InvalidRows.notJudged(row("'late_pct': 0.5, 'rates_late_pct': null")));
        assertFalse(InvalidRows.notJudged(row("'late_pct': 0")));
        assertFalse(InvalidRows.notJudged(row("'ratio': null")));
    }
}
