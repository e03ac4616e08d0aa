package io.farheap.cli;

import io.farheap.kv.FarMap;
import io.farheap.testing.TestDevice;
import java.util.Arrays;

/** A map, as a test's process of its own opens it. */
final class OpenedMap {

    private OpenedMap() {}

    /**
     * @param arguments of the process: name, token, and from {@code firstServer} on the servers' addresses
     * @param firstServer index of the first address
     */
    static FarMap of(String[] arguments, int firstServer) {
        return FarMap.builder()
                .name(arguments[0])
                .token(arguments[1])
                .device(TestDevice.client())
                .servers(Arrays.copyOfRange(arguments, firstServer, arguments.length))
                .open();
    }
}
