package io.farheap.procedure.translate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.procedure.CallStatus;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Translated code does what plain Java does, bit by bit, however it is interrupted. */
class TranslatedTest {

    private final Stage stage = new Stage();

    @AfterEach
    void close() {
        assertTrue(stage.guardsHold(), "bytes around the memory have changed");
        stage.close();
    }

    private static MemorySegment longs(long... values) {
        return MemorySegment.ofArray(values);
    }

    /** In each way, against plain Java on a copy. */
    private Stage.Outcome same(Compiled compiled, long... arguments) {
        Translation translation = compiled.translated();
        stage.arguments = longs(arguments);
        MemorySegment before = stage.copy();
        MemorySegment memory = stage.copy();
        Stage.Outcome expected = stage.plain(compiled, memory);
        for (Stage.Way way : Stage.Way.values()) {
            stage.restore(before);
            Stage.Outcome found = stage.run(translation.code(), way);
            String what = way + ": " + CallStatus.describe(found.status()) + ", line " + found.line();
            assertEquals(expected.status(), found.status(), what);
            assertEquals(expected.code(), found.code(), what);
            assertEquals(expected.address(), found.address(), what);
            assertEquals(hex(expected.result()), hex(found.result()), what);
            assertEquals(-1, memory.mismatch(stage.copy()), what + ": the caches differ");
        }
        return expected;
    }

    private static List<Long> hex(MemorySegment bytes) {
        List<Long> list = new ArrayList<>();
        for (byte b : bytes.toArray(ValueLayout.JAVA_BYTE)) {
            list.add((long) b);
        }
        return list;
    }

    private void put(long address, long value) {
        stage.region((int) (address >>> Stage.REGION_SHIFT))
                .set(ValueLayout.JAVA_LONG, address & (Stage.REGION_BYTES - 1), value);
    }

    @Test
    void aListIsSummed() {
        for (int i = 0; i < 20; i++) {
            long node = 24 + i * 808 % 16_000 / 8 * 8;
            put(node, i == 19 ? 0 : 24 + (i + 1) * 808 % 16_000 / 8 * 8);
            put(node + 8, i);
            put(node + 16, 100 + i);
        }
        Stage.Outcome outcome = same(Compiled.body("""

                        long day = call.argument(8);
                        long sum = 0;
                        for (long node = call.argument(0); node != 0; node = call.getLong(node)) {
                            if (call.getLong(node + 8) >= day) {
                                sum += call.getLong(node + 16);
                            }
                        }
                        call.result(0, sum);
                        return 7;
                        """), 24, 15);
        assertEquals(7, outcome.code());
        assertEquals(115 + 116 + 117 + 118 + 119, outcome.result().get(ValueLayout.JAVA_LONG_UNALIGNED, 0));
    }
}
