package io.farheap.control.grpc;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;

/**
 * Checks whether protobuf works in this JVM. It needs {@code sun.misc.Unsafe}'s memory access, which a JVM may deny;
 * gRPC would then swallow the error and the call would never end.
 */
public final class ProtobufRuntime {

    private static final String NEEDS_UNSAFE = "com.google.protobuf.CodedOutputStream";

    private ProtobufRuntime() {}

    /** @throws ControlException INTERNAL, with the JVM's flag that is missing */
    public static void require() {
        try {
            Class.forName(NEEDS_UNSAFE);
        } catch (ClassNotFoundException | LinkageError e) {
            throw new ControlException(
                    Code.INTERNAL,
                    "protobuf does not work in this JVM (" + e
                            + "); if it denies the use of sun.misc.Unsafe, add "
                            + "--sun-misc-unsafe-memory-access=allow to java's flags",
                    e);
        }
    }
}
