package io.farheap.connection;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.farheap.memory.RegisteredMemory;
import io.farheap.rpc.BatchConnection;
import io.farheap.rpc.RingShape;
import io.farheap.testing.Held;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import java.lang.reflect.Field;
import org.junit.jupiter.api.Test;

/**
 * Where something of a connection does not close, the rest of it does: the device has nothing of it left, and closes.
 */
class ClosingTest {

    private final Context context = Devices.open(TestDevice.client());

    @Test
    void ofABatchConnection() throws ReflectiveOperationException {
        closeWithoutMemory(BatchConnection.create(context, null, new RingShape(2, 16), 0), "responses");
    }

    @Test
    void ofAMarkExchange() throws ReflectiveOperationException {
        closeWithoutMemory(new WatermarkExchange(context, 0), "memory");
    }

    private void closeWithoutMemory(AutoCloseable resource, String memory) throws ReflectiveOperationException {
        Field field = resource.getClass().getDeclaredField(memory);
        field.setAccessible(true);
        RegisteredMemory held = (RegisteredMemory) field.get(resource);
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
