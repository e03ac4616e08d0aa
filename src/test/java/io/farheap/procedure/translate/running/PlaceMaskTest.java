package io.farheap.procedure.translate.running;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.procedure.translate.Compiled;
import io.farheap.testing.Fields;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A processor that mispredicts a check reads by places that are masked. The tests make the mask smaller than what the
 * checks allow, and so see which accesses it bounds.
 */
class PlaceMaskTest {

    private static final int SHIFT = 12;
    private static final int REGION_BYTES = 1 << SHIFT;
    private static final int MASK = 255;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment region = arena.allocate(REGION_BYTES, 64);
    private final MemorySegment table = arena.allocate(8, 8);
    private final MemorySegment memory = arena.allocate(CallContext.MEMORY_BYTES, 64);
    private final CallContext context = new CallContext(memory);

    @BeforeEach
    void begin() throws IllegalAccessException {
        table.set(ValueLayout.JAVA_LONG, 0, region.address());
        context.begin(Compiled.body("return 0;").translated().code(), 0, REGION_BYTES, 0, 4096, 1000);
        context.map(table.address(), 1, SHIFT);
        Fields.field(context, "placeMask").set(context, MASK);
    }

    @AfterEach
    void close() {
        arena.close();
    }

    private byte scratch(int at) {
        return ProcedureMemory.getByte(context.scratch + at);
    }

    @Test
    void thePlacesOfLoadsAndStoresAre() {
        ProcedureMemory.scratchByte(context, MASK + 1 + 9, 7);
        assertEquals(7, scratch(9));
        assertEquals(7, ProcedureMemory.scratchByte(context, MASK + 1 + 9));
        assertEquals(0, scratch(MASK + 1 + 9));
    }

    @Test
    void thePlacesAndLengthsOfCopiesAre() {
        region.fill((byte) 7);
        assertEquals(2, ProcedureCopies.toScratch(context, 0, MASK + 1 + 240, 32));
        assertEquals(0, scratch(239));
        assertEquals(7, scratch(240));
        assertEquals(7, scratch(MASK));
        assertEquals(0, scratch(MASK + 1), "behind the last place");
        assertEquals(0, scratch(MASK + 1 + 240));

        assertEquals(2, ProcedureCopies.toResult(context, 240, MASK + 1 + 248, 32));
        assertEquals(7, ProcedureMemory.getByte(context.results + 248));
        assertEquals(0, ProcedureMemory.getByte(context.results + MASK + 1));

        region.fill((byte) 3);
        assertEquals(2, ProcedureCopies.fromScratch(context, MASK + 1 + 240, 64, 32));
        assertEquals(7, region.get(ValueLayout.JAVA_BYTE, 64 + 15));
        assertEquals(3, region.get(ValueLayout.JAVA_BYTE, 64 + 16));
    }

    @Test
    void noCopyReachesBehindARegion() {
        assertEquals(REGION_BYTES, context.rest(0));
        assertEquals(8, context.rest(REGION_BYTES - 8));
        assertEquals(1, context.rest(5L * REGION_BYTES - 1));
        for (int bytes : new int[] {0, 1, 4095, 4096, Integer.MAX_VALUE}) {
            for (int room : new int[] {0, 1, 4096, CallFrame.MOST_PART}) {
                assertEquals(Math.min(bytes, room), ProcedureCopies.cut(bytes, room));
            }
        }
    }

    @Test
    void theRestOfALargeRegionIsAtMostAPart() {
        context.map(table.address(), 1, 33);
        assertEquals(CallFrame.MOST_PART, context.rest(0));
        assertEquals(16, context.rest((1L << 33) - 16));
    }
}
