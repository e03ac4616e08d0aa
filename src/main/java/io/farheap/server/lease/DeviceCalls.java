package io.farheap.server.lease;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.verbs.VerbsException;
import java.util.function.Supplier;

/** Runs a client's call that needs the server's device: if the device refuses, the call fails. */
public final class DeviceCalls {

    private DeviceCalls() {}

    /**
     * Runs it.
     *
     * @throws ControlException INTERNAL if the device refuses
     */
    public static <T> T call(Supplier<T> call) {
        try {
            return call.get();
        } catch (VerbsException e) {
            throw new ControlException(Code.INTERNAL, "the server's device refused: " + e.getMessage(), e);
        }
    }
}
