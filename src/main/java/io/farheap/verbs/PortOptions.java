package io.farheap.verbs;

import java.util.List;
import java.util.Locale;

/**
 * Which port of which RDMA device to use, and how connections leave it. A setting that is not set here is taken from
 * the system property of the port ({@code farheap.NAME.DEVICE:PORT}, such as {@code farheap.gid.mlx5_0:2}), else of the
 * device ({@code farheap.NAME.DEVICE}), else of all devices ({@code farheap.NAME}), when the device is opened; else it
 * has its default. The names are {@code gid}, {@code serviceLevel}, {@code trafficClass}, {@code pkey},
 * {@code ackTimeout} and {@code retries}.
 *
 * <pre>{@code
 * PortOptions options = PortOptions.of("mlx5_0:2").gid("eth1.100").trafficClass(106);
 * }</pre>
 *
 * @param device the device's name, {@code NAME} for its first active port or {@code NAME:PORT}, with ports from 1;
 *     empty for the first device that serves
 * @param gid the GID, and so the address, of this end: an index of the port's GID table, an IPv4 or IPv6 address, which
 *     may have a scope as {@code fe80::1%eth0.100}, or the network interface that has the address; empty, the default,
 *     for the one that suits each peer best
 * @param serviceLevel 0, the default, to 15; on Ethernet 0 to 7, the priority of the VLAN tag
 * @param trafficClass 0, the default, to 255, the traffic class of the IPv6 header or the type of service of the IPv4
 *     header; it has no effect on an InfiniBand port that needs no global route
 * @param partitionKey a key of the port's table, such as 0x8001; the default is the first one
 * @param ackTimeout the exponent of the time without an acknowledgement after which the device sends again, 1 to 21:
 *     4.096 us times 2 to this power; the default is 14 (67 ms)
 * @param retries how often the device sends again before it gives the connection up, 0 to 6; the default is 6. Seven
 *     means for ever to some devices
 */
public record PortOptions(
        String device, String gid, int serviceLevel, int trafficClass, int partitionKey, int ackTimeout, int retries) {

    /** The value of a number that is not set. */
    public static final int UNSET = -1;

    /** The first device that serves, its first active port, and nothing set. */
    public static final PortOptions DEFAULT = new PortOptions("", "", UNSET, UNSET, UNSET, UNSET, UNSET);

    /**
     * 4.096 us * 2^14 = 67 ms without an acknowledgement, then a retry; six retries end in RETRY_EXC_ERR after half a
     * second. Not seven: the kernel's rxe takes that for unlimited, so that requests to a dead peer would never
     * complete.
     */
    private static final int DEFAULT_ACK_TIMEOUT = 14;

    private static final int DEFAULT_RETRIES = 6;
    private static final int MAX_RETRIES = 6;

    private static final int MAX_SERVICE_LEVEL = 15;
    private static final int MAX_TRAFFIC_CLASS = 255;
    private static final int MAX_KEY = 0xFFFF;
    private static final int PARTITION = 0x7FFF;
    private static final int MAX_ACK_TIMEOUT = 21;

    private static final String PREFIX = "farheap.";
    private static final String GID = "gid";
    private static final String SERVICE_LEVEL = "serviceLevel";
    private static final String TRAFFIC_CLASS = "trafficClass";
    private static final String PARTITION_KEY = "pkey";
    private static final String ACK_TIMEOUT = "ackTimeout";
    private static final String RETRIES = "retries";
    private static final List<String> SETTINGS =
            List.of(GID, SERVICE_LEVEL, TRAFFIC_CLASS, PARTITION_KEY, ACK_TIMEOUT, RETRIES);

    /** @throws IllegalArgumentException with the value that is wrong, its limits and what to do */
    public PortOptions {
        if (!device.matches("[^:]*|[^:]+:[1-9]\\d{0,2}")) {
            throw new IllegalArgumentException(
                    "device " + device + "; name a device, or a port of one, from 1, such as mlx5_0:2");
        }
        require(serviceLevel, 0, MAX_SERVICE_LEVEL, "a service level of ", "; it must be 0 to 15, on Ethernet 0 to 7");
        require(trafficClass, 0, MAX_TRAFFIC_CLASS, "a traffic class of ", "; it must be 0 to 255");
        if (partitionKey != UNSET && (partitionKey < 1 || partitionKey > MAX_KEY || (partitionKey & PARTITION) == 0)) {
            throw new IllegalArgumentException("a partition key of " + partitionKey
                    + "; it must be 0x0001 to 0xffff, with a number in its lower 15 bits, such as 0x8001");
        }
        require(
                ackTimeout,
                1,
                MAX_ACK_TIMEOUT,
                "an acknowledgement time-out of ",
                "; it must be 1 to 21, of which 14 is 67 ms and 21 is 8.6 s");
        require(
                retries,
                0,
                MAX_RETRIES,
                "a number of retries of ",
                "; it must be 0 to 6: some devices retry 7 for ever");
    }

    private static void require(int value, int least, int most, String what, String limits) {
        if (value != UNSET && (value < least || value > most)) {
            throw new IllegalArgumentException(what + value + limits);
        }
    }

    /**
     * A port, and nothing else set.
     *
     * @param device as {@link #device()}
     */
    public static PortOptions of(String device) {
        return DEFAULT.device(device);
    }

    /** A copy with this {@link #device()}. */
    public PortOptions device(String device) {
        return new PortOptions(device, gid, serviceLevel, trafficClass, partitionKey, ackTimeout, retries);
    }

    /**
     * A copy with this {@link #gid()}.
     *
     * @throws IllegalArgumentException if it is empty
     */
    public PortOptions gid(String gid) {
        if (gid.isBlank()) {
            throw new IllegalArgumentException("a GID of no characters; "
                    + "name an index of the port's GID table, an address or a network interface, or leave it out");
        }
        return new PortOptions(device, gid.strip(), serviceLevel, trafficClass, partitionKey, ackTimeout, retries);
    }

    /** A copy with this {@link #serviceLevel()}. */
    public PortOptions serviceLevel(int serviceLevel) {
        return new PortOptions(device, gid, serviceLevel, trafficClass, partitionKey, ackTimeout, retries);
    }

    /** A copy with this {@link #trafficClass()}. */
    public PortOptions trafficClass(int trafficClass) {
        return new PortOptions(device, gid, serviceLevel, trafficClass, partitionKey, ackTimeout, retries);
    }

    /** A copy with this {@link #partitionKey()}. */
    public PortOptions partitionKey(int partitionKey) {
        return new PortOptions(device, gid, serviceLevel, trafficClass, partitionKey, ackTimeout, retries);
    }

    /** A copy with this {@link #ackTimeout()}. */
    public PortOptions ackTimeout(int ackTimeout) {
        return new PortOptions(device, gid, serviceLevel, trafficClass, partitionKey, ackTimeout, retries);
    }

    /** A copy with this {@link #retries()}. */
    public PortOptions retries(int retries) {
        return new PortOptions(device, gid, serviceLevel, trafficClass, partitionKey, ackTimeout, retries);
    }

    /** The device's name without the port; empty for the first device that serves. */
    public String deviceName() {
        int colon = device.indexOf(':');
        return colon < 0 ? device : device.substring(0, colon);
    }

    /** The port's number; 0 for the first one that is active. */
    public int port() {
        int colon = device.indexOf(':');
        return colon < 0 ? 0 : Integer.parseInt(device.substring(colon + 1));
    }

    /**
     * A copy with one more setting, which is written as text.
     *
     * @param name a setting's name in properties, such as {@code serviceLevel}
     * @param value a number, decimal or as {@code 0x1f}, or the GID
     * @throws IllegalArgumentException if the value is none of that setting
     */
    private PortOptions with(String name, String value) {
        if (name.equals(GID)) {
            return gid(value);
        }
        int number;
        try {
            number = Integer.decode(value.strip());
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("it is no number; write one such as 3 or 0x8001", e);
        }
        if (number < 0) {
            throw new IllegalArgumentException("it is less than 0; leave it out for the default");
        }
        return switch (name) {
            case SERVICE_LEVEL -> serviceLevel(number);
            case TRAFFIC_CLASS -> trafficClass(number);
            case PARTITION_KEY -> partitionKey(number);
            case ACK_TIMEOUT -> ackTimeout(number);
            default -> retries(number);
        };
    }

    private boolean isSet(String name) {
        return switch (name) {
            case GID -> !gid.isEmpty();
            case SERVICE_LEVEL -> serviceLevel != UNSET;
            case TRAFFIC_CLASS -> trafficClass != UNSET;
            case PARTITION_KEY -> partitionKey != UNSET;
            case ACK_TIMEOUT -> ackTimeout != UNSET;
            default -> retries != UNSET;
        };
    }

    /**
     * The options of an opened port: those that are not set have the properties' values, else their defaults. The
     * partition key may still be unset, and the GID empty.
     *
     * @param name the device's
     * @throws VerbsException if a property's value is none of its setting
     */
    PortOptions resolved(String name, int number) {
        PortOptions all = this;
        for (String setting : SETTINGS) {
            String key = PREFIX + setting;
            List<String> keys = List.of(key + "." + name + ":" + number, key + "." + name, key);
            for (int i = 0; i < keys.size() && !all.isSet(setting); i++) {
                String value = System.getProperty(keys.get(i));
                if (value != null) {
                    try {
                        all = all.with(setting, value);
                    } catch (IllegalArgumentException e) {
                        throw VerbsException.ofSetting(keys.get(i) + "=" + value + ": " + e.getMessage());
                    }
                }
            }
        }
        return new PortOptions(
                all.device,
                all.gid,
                Math.max(0, all.serviceLevel),
                Math.max(0, all.trafficClass),
                all.partitionKey,
                all.ackTimeout == UNSET ? DEFAULT_ACK_TIMEOUT : all.ackTimeout,
                all.retries == UNSET ? DEFAULT_RETRIES : all.retries);
    }

    /** Whether a system property sets one of these options, for processes that pass theirs on to others. */
    public static boolean isProperty(String name) {
        return SETTINGS.stream()
                .map(setting -> PREFIX + setting)
                .anyMatch(key -> name.equals(key) || name.startsWith(key + "."));
    }

    /** The settings that are set, for people; empty if there are none. */
    public String settings() {
        StringBuilder text = new StringBuilder();
        append(text, "GID ", gid);
        append(text, "service level ", number(serviceLevel));
        append(text, "traffic class ", number(trafficClass));
        append(text, "partition key ", partitionKey == UNSET ? "" : String.format(Locale.ROOT, "0x%04x", partitionKey));
        append(text, "acknowledgement time-out ", number(ackTimeout));
        append(text, "retries ", number(retries));
        return text.toString();
    }

    private static String number(int value) {
        return value == UNSET ? "" : Integer.toString(value);
    }

    private static void append(StringBuilder text, String name, String value) {
        if (!value.isEmpty()) {
            text.append(text.isEmpty() ? "" : ", ").append(name).append(value);
        }
    }
}
