package io.farheap.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.rpc.message.BatchFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RingShapeTest {

    /** A full batch of the largest records fits, and so does its answer with statuses. */
    @ParameterizedTest
    @CsvSource({"1, 1", "16, 64", "4, 3", "4096, 4096", "7, 1000", "1, 2"})
    void aFullBatchFits(int queueDepth, int batch) {
        RingShape shape = new RingShape(queueDepth, batch);
        int payload = BatchFormat.padded(shape.recordBytes());
        assertTrue(mostPerBatch(shape.recordBytes()) >= batch, "a record of this size may be in a batch of so many");
        assertTrue(batch == 1 || mostPerBatch(shape.recordBytes() + 1) < batch, "and none that is larger");
        assertTrue(
                shape.requestSlotBytes() >= BatchFormat.HEADER_BYTES + batch * (BatchFormat.REQUEST_BYTES + payload));
        assertTrue(shape.responseSlotBytes() >= BatchFormat.HEADER_BYTES + batch * payload + BatchFormat.padded(batch));
        assertEquals(0, shape.requestSlotBytes() % 64);
        assertEquals(
                RingShape.CONTROL_BYTES + (long) (queueDepth + 2) * shape.requestSlotBytes(), shape.requestRingBytes());
    }

    /** Redy's cap on b: 4 KB by the record's size, rounded up. */
    private static int mostPerBatch(int recordBytes) {
        return (RingShape.PAYLOAD_BYTES + recordBytes - 1) / recordBytes;
    }

    @Test
    void whatIsOutOfBoundsIsRefusedWithItsLimits() {
        for (int[] wrong : new int[][] {{0, 1}, {1, 0}, {4097, 1}, {1, 4097}, {-1, -1}}) {
            String message = assertThrows(IllegalArgumentException.class, () -> new RingShape(wrong[0], wrong[1]))
                    .getMessage();
            assertTrue(message.contains("1 to 4096"), message);
        }
    }
}
