package io.farheap.server.lease;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.verbs.VerbsException;
import java.util.function.Supplier;

/** A client's call that needs the server's device: what that refuses is the call's failure. */
public final class DeviceCalls {

    private DeviceCalls() {}

    /** @throws ControlException INTERNAL where the device refuses */
    public static <T> T call(Supplier<T> call) {
        try {
            return call.get();
        } catch (VerbsException e) {
            throw new ControlException(Code.INTERNAL, "the server's device refused: " + e.getMessage(), e);
        }
    }
}
