package io.farheap.manager.provider;

import io.farheap.command.Durations;
import io.farheap.command.Sizes;
import io.farheap.manager.allocation.MachineType;
import io.farheap.manager.allocation.Menu;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import picocli.CommandLine.TypeConversionException;

/**
 * The settings of {@link LocalServers}. {@code memory} and {@code region} may be given for one type: {@code memory.T}.
 *
 * @param servers the most processes at a time
 */
record LocalSettings(int servers, long seed, String device, Map<String, String> given) {

    private static final String SERVERS = "servers";
    private static final String MEMORY = "memory";
    private static final String REGION = "region";
    private static final String LIFE = "life";
    private static final String NOTICE = "notice";
    private static final String SEED = "seed";
    private static final String DEVICE = "device";
    private static final Set<String> KEYS = Set.of(SERVERS, MEMORY, REGION, LIFE, NOTICE, SEED, DEVICE);
    private static final Set<String> OF_A_TYPE = Set.of(MEMORY, REGION);

    private static final long DEFAULT_REGION = 64 << 20;
    private static final long LEAST_REGION = 64 << 10;
    private static final String DEFAULT_SERVERS = "8";
    private static final String DEFAULT_PLACE = "local/local/local";
    private static final double MILLIS_AN_HOUR = 3_600_000;

    /** @throws IllegalArgumentException with the setting that is invalid */
    static LocalSettings parse(Map<String, String> given, Menu menu) {
        if (menu.types().isEmpty()) {
            throw new IllegalArgumentException(
                    "provider local starts servers of the types on the menu, which has none: name a --menu");
        }
        for (String key : given.keySet()) {
            int dot = key.indexOf('.');
            String what = dot < 0 ? key : key.substring(0, dot);
            if (!KEYS.contains(what) || dot >= 0 && !OF_A_TYPE.contains(what)) {
                throw new IllegalArgumentException("provider local has no setting " + key
                        + "; there are servers, memory, memory.TYPE, region, region.TYPE, life, notice, seed, device");
            }
            if (dot >= 0 && menu.find(key.substring(dot + 1)) == null) {
                throw new IllegalArgumentException(key + ": there is no such type on the menu");
            }
        }
        LocalSettings settings = new LocalSettings(
                read(SERVERS, given.getOrDefault(SERVERS, DEFAULT_SERVERS), Integer::parseInt),
                read(SEED, given.getOrDefault(SEED, "1"), Long::parseLong),
                given.getOrDefault(DEVICE, ""),
                Map.copyOf(given));
        if (settings.servers < 1) {
            throw new IllegalArgumentException("servers=" + settings.servers + "; that is at least 1");
        }
        for (MachineType type : menu.types().values()) {
            long region = settings.regionBytes(type);
            if (Long.bitCount(region) != 1 || region < LEAST_REGION) {
                throw new IllegalArgumentException(
                        "regions of " + region + " bytes for type " + type.name() + "; a power of two of at least 64k");
            }
            if (settings.memoryBytes(type) < region) {
                throw new IllegalArgumentException("type " + type.name() + " has " + settings.memoryBytes(type)
                        + " bytes, and so no region of " + region + "; set memory." + type.name() + " or region."
                        + type.name());
            }
            settings.lifeMillis(type);
            settings.noticeMillis(type);
        }
        return settings;
    }

    private static <T> T read(String key, String value, Function<String, T> parse) {
        try {
            return parse.apply(value);
        } catch (NumberFormatException | TypeConversionException e) {
            throw new IllegalArgumentException(key + "=" + value + ": " + e.getMessage(), e);
        }
    }

    private long size(String key, MachineType type, long otherwise) {
        String own = key + "." + type.name();
        String found = given.containsKey(own) ? own : key;
        return given.containsKey(found) ? read(found, given.get(found), Sizes::parse) : otherwise;
    }

    private double millis(String key, double otherwise) {
        return given.containsKey(key)
                ? read(key, given.get(key), text -> new Durations().convert(text))
                        .toMillis()
                : otherwise;
    }

    private long memoryBytes(MachineType type) {
        return size(MEMORY, type, type.memoryBytes());
    }

    long regionBytes(MachineType type) {
        return size(REGION, type, DEFAULT_REGION);
    }

    /** Returns how long spot machines of a type live on average. */
    double lifeMillis(MachineType type) {
        return millis(LIFE, type.lifeHours() * MILLIS_AN_HOUR);
    }

    private long noticeMillis(MachineType type) {
        return (long) millis(NOTICE, type.noticeSeconds() * 1e3);
    }

    /** Returns no offer for a type into which its regions do not fit, as another menu may bring it. */
    List<MachineOffer> lots(MachineType type, int available) {
        List<MachineOffer> lots = new ArrayList<>();
        long regions = memoryBytes(type) / regionBytes(type);
        if (regions > 0 && regions <= Integer.MAX_VALUE) {
            lots.add(lot(type, false, type.price(), (int) regions, available));
            if (type.spotPrice() >= 0) {
                lots.add(lot(type, true, type.spotPrice(), (int) regions, available));
            }
        }
        return lots;
    }

    private MachineOffer lot(MachineType type, boolean spot, double price, int regions, int available) {
        return new MachineOffer(
                type.name(),
                spot,
                price,
                regionBytes(type),
                regions,
                type.place().isEmpty() ? DEFAULT_PLACE : type.place(),
                noticeMillis(type),
                available);
    }

    /** Returns options of a {@code server} command. */
    static List<String> options(MachineOffer lot, String managers) {
        List<String> options = new ArrayList<>(List.of(
                "--manager",
                managers,
                "--type",
                lot.type(),
                "--place",
                lot.place(),
                "--notice",
                lot.noticeMillis() + "ms"));
        if (lot.spot()) {
            options.add("--spot");
        }
        return options;
    }
}
