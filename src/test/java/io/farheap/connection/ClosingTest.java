package io.farheap.connection;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.farheap.memory.RegisteredMemory;
import io.farheap.rpc.RingShape;
import io.farheap.rpc.batch.BatchConnection;
import io.farheap.testing.Fields;
import io.farheap.testing.Held;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import org.junit.jupiter.api.Test;

/**
 * If one part of a connection fails to close, the other parts are closed nevertheless, so that the device can close.
 */
class ClosingTest {

    private final Context context = Devices.open(TestDevice.client());

    @Test
    void ofABatchConnection() {
        BatchConnection connection = new BatchConnection(context, null, new RingShape(2, 16), 0);
        closeWithoutMemory(connection, Fields.get(connection, "writer", Object.class), "responses");
    }

    @Test
    void ofAMarkExchange() {
        WatermarkExchange exchange = new WatermarkExchange(context, 0);
        closeWithoutMemory(exchange, exchange, "memory");
    }

    private void closeWithoutMemory(AutoCloseable resource, Object owner, String memory) {
        RegisteredMemory held = Fields.get(owner, memory, RegisteredMemory.class);
        assertInstanceOf(IllegalStateException.class, Held.during(held.segment(), () -> {
            try {
                resource.close();
            } catch (RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }));
        held.close();
        assertDoesNotThrow(context::close);
    }
}
