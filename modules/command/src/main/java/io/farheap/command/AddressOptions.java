package io.farheap.command;

import io.farheap.verbs.PortOptions;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of a command for the address of its RDMA port and for how connections leave it. */
public final class AddressOptions {

    @Option(
            names = "--gid",
            paramLabel = "GID",
            description =
                    "GID of the RDMA port: an index of its table, an address or a network interface (default: the "
                            + "one that suits each peer best).")
    private @Nullable String gid;

    @Option(
            names = "--service-level",
            paramLabel = "N",
            description = "Service level of connections, 0 to 15; on Ethernet the VLAN priority, 0 to 7 (default: 0).")
    private @Nullable Integer serviceLevel;

    @Option(
            names = "--traffic-class",
            paramLabel = "N",
            description = "Traffic class, or type of service, of connections, 0 to 255 (default: 0).")
    private @Nullable Integer trafficClass;

    @Option(
            names = "--pkey",
            paramLabel = "KEY",
            description = "Partition key of connections, such as 0x8001 (default: the first of the port's table).")
    private @Nullable String partitionKey;

    @Option(
            names = "--ack-timeout",
            paramLabel = "N",
            description = "Time without an acknowledgement after which the device sends again, 1 to 21: 4.096 us times "
                    + "2 to the power of N (default: 14, which is 67 ms).")
    private @Nullable Integer ackTimeout;

    @Option(
            names = "--retries",
            paramLabel = "N",
            description = "How often the device sends again before a connection fails, 0 to 6 (default: 6).")
    private @Nullable Integer retries;

    /**
     * The options of a port.
     *
     * @param device {@code NAME} or {@code NAME:PORT}; empty for the first that serves
     * @throws IllegalArgumentException if one is out of its range
     */
    public PortOptions port(String device) {
        PortOptions port = PortOptions.of(device)
                .serviceLevel(set("--service-level", serviceLevel))
                .trafficClass(set("--traffic-class", trafficClass))
                .ackTimeout(set("--ack-timeout", ackTimeout))
                .retries(set("--retries", retries));
        if (gid != null) {
            port = port.gid(gid);
        }
        return partitionKey == null ? port : port.partitionKey(key(partitionKey));
    }

    private static int set(String name, @Nullable Integer value) {
        if (value == null) {
            return PortOptions.UNSET;
        }
        // Among them is the value that stands for an option that is not given.
        if (value < 0) {
            throw new IllegalArgumentException(name + " " + value + ": it must be at least 0");
        }
        return value;
    }

    private static int key(String text) {
        try {
            return Integer.decode(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("--pkey " + text + ": it is no number; write one such as 0x8001", e);
        }
    }
}
