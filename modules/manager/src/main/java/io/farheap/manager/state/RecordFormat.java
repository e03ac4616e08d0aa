package io.farheap.manager.state;

import io.farheap.manager.Tenant;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Records as bytes: lines of {@code key=value} in UTF-8, which an operator can read with zkCli. {@code version=1} says
 * how to read the others; keys that are unknown are ignored, so that an older manager reads what a newer one added.
 *
 * <p>Ids are 16 hexadecimal digits, as in paths. Counts are {@code server:count} separated by commas; a plan is the
 * switches, server threads and regions of a {@link CachePlan} and the servers that are left; lives are
 * {@code hours:ended:longer}, and their times are listed in the same order. In a value a backslash begins an escape:
 * with n it is a line feed, with another backslash a backslash, with u and four hexadecimal digits another control or
 * half a surrogate pair.
 */
final class RecordFormat {

    private static final String VERSION = "1";
    private static final int PLAN_NUMBERS = 3;
    private static final int SEEN_NUMBERS = 3;

    private RecordFormat() {}

    static byte[] encode(ServerRecord server) {
        RecordFields fields = new RecordFields()
                .put("version", VERSION)
                .put("id", NodePaths.hex(server.id()))
                .put("address", server.address())
                .put("type", server.type())
                .put("spot", server.spot())
                .put("sinceMillis", server.sinceMillis())
                .put("place", server.place())
                .put("regionBytes", server.regionBytes())
                .put("regions", server.regions())
                .put("noticeMillis", server.noticeMillis())
                .put("leaving", server.leaving());
        return (server.forgotten() ? fields.put("forgotten", true) : fields).encode();
    }

    static byte[] encode(CacheRecord cache) {
        return new RecordFields()
                .put("version", VERSION)
                .put("id", NodePaths.hex(cache.id()))
                .put("name", cache.name())
                .put("capacity", cache.capacity())
                .put("wanted", cache.wanted())
                .put("regionBytes", cache.regionBytes())
                .put("place", cache.terms().place())
                .put("switches", cache.terms().switches())
                .put("serverThreads", cache.terms().serverThreads())
                .put("threadRegions", cache.terms().threadRegions())
                .put("expiresAtMillis", cache.terms().expiresAtMillis())
                .put("tenant", cache.terms().tenant())
                .put("generation", cache.generation())
                .put("regions", counts(cache.regions()))
                .put("reserved", counts(cache.reserved()))
                .put("plan", plan(cache.plan()))
                .put("ended", cache.ended())
                .encode();
    }

    static byte[] encode(TenantRecord tenant) {
        return new RecordFields()
                .put("version", VERSION)
                .put("name", tenant.name())
                .put("bytes", tenant.bytes())
                .put("caches", tenant.caches())
                .encode();
    }

    static byte[] encode(LifeRecord life) {
        return new RecordFields()
                .put("version", VERSION)
                .put("type", life.type())
                .put(
                        "seen",
                        life.seen().stream()
                                .map(seen -> seen.hours() + ":" + seen.ended() + ":" + seen.longer())
                                .collect(Collectors.joining(",")))
                .put(
                        "atHours",
                        life.seen().stream()
                                .map(seen -> Double.toString(seen.atHours()))
                                .collect(Collectors.joining(",")))
                .put("sinceHours", Double.toString(life.sinceHours()))
                .put("bytesPerSecond", Double.toString(life.bytesPerSecond()))
                .encode();
    }

    /**
     * @param path of the record, which must match its id
     * @throws MalformedRecordException if the bytes are no such record; it throws nothing else
     */
    static ServerRecord server(String path, byte[] bytes) {
        return decode(path, bytes, RecordFormat::server);
    }

    /** As {@link #server(String, byte[])}. */
    static CacheRecord cache(String path, byte[] bytes) {
        return decode(path, bytes, RecordFormat::cache);
    }

    /** As {@link #server(String, byte[])}. */
    static TenantRecord tenant(String path, byte[] bytes) {
        return decode(path, bytes, RecordFormat::tenant);
    }

    /** Decodes a text, which is stored unchanged. As {@link #server(String, byte[])}. */
    static ModelRecord model(String path, byte[] bytes) {
        try {
            return new ModelRecord(
                    path.substring(NodePaths.MODELS.length() + 1), new String(bytes, StandardCharsets.UTF_8));
        } catch (IllegalArgumentException e) {
            throw new MalformedRecordException(path, String.valueOf(e.getMessage()), e);
        }
    }

    /** As {@link #server(String, byte[])}. */
    static LifeRecord life(String path, byte[] bytes) {
        return decode(path, bytes, RecordFormat::life);
    }

    private static LifeRecord life(String path, RecordFields fields) {
        List<LifeRecord.LifeSample> seen = new ArrayList<>();
        String[] parts = parts(fields.text("seen"));
        // Records of an earlier release have no times.
        String[] times = parts(fields.text("atHours", ""));
        if (times.length != 0 && times.length != parts.length) {
            throw new IllegalArgumentException("it has " + parts.length + " lives and " + times.length + " times");
        }
        for (int i = 0; i < parts.length; i++) {
            String part = parts[i];
            String[] numbers = part.split(":", -1);
            if (numbers.length != SEEN_NUMBERS) {
                throw new IllegalArgumentException("seen has " + part + ", and not hours:ended:longer");
            }
            seen.add(new LifeRecord.LifeSample(
                    Double.parseDouble(numbers[0]),
                    Math.toIntExact(RecordFields.number("seen", numbers[1])),
                    Math.toIntExact(RecordFields.number("seen", numbers[2])),
                    times.length == 0 ? 0 : Double.parseDouble(times[i])));
        }
        LifeRecord life = new LifeRecord(
                fields.text("type"),
                Double.parseDouble(fields.text("sinceHours", "0")),
                seen,
                Double.parseDouble(fields.text("bytesPerSecond", "0")));
        requirePath(path, NodePaths.life(life.type()));
        return life;
    }

    private static String[] parts(String text) {
        return text.isEmpty() ? new String[0] : text.split(",", -1);
    }

    private static TenantRecord tenant(String path, RecordFields fields) {
        TenantRecord tenant = new TenantRecord(fields.text("name"), fields.number("bytes"), fields.number("caches"));
        requirePath(path, NodePaths.tenant(tenant.name()));
        return tenant;
    }

    private static ServerRecord server(String path, RecordFields fields) {
        ServerRecord server = new ServerRecord(
                fields.id("id"),
                fields.text("address"),
                fields.text("type"),
                fields.flag("spot"),
                fields.number("sinceMillis"),
                fields.text("place"),
                fields.number("regionBytes"),
                Math.toIntExact(fields.number("regions")),
                fields.number("noticeMillis"),
                fields.flag("leaving"),
                RecordFields.flag("forgotten", fields.text("forgotten", "false")));
        requirePath(path, NodePaths.server(server.id()));
        return server;
    }

    private static CacheRecord cache(String path, RecordFields fields) {
        CacheRecord cache = new CacheRecord(
                fields.id("id"),
                fields.text("name"),
                fields.number("capacity"),
                fields.number("wanted"),
                fields.number("regionBytes"),
                new AllocationTerms(
                        fields.text("place"),
                        Math.toIntExact(fields.number("switches")),
                        Math.toIntExact(fields.number("serverThreads")),
                        RecordFields.number("threadRegions", fields.text("threadRegions", "0")),
                        fields.number("expiresAtMillis"),
                        fields.text("tenant", Tenant.DEFAULT)),
                fields.number("generation"),
                counts("regions", fields.text("regions")),
                counts("reserved", fields.text("reserved")),
                plan(fields.text("plan", "")),
                RecordFields.flag("ended", fields.text("ended", "false")));
        requirePath(path, NodePaths.cache(cache.id()));
        return cache;
    }

    private interface Decoder<T> {
        T decode(String path, RecordFields fields);
    }

    private static <T> T decode(String path, byte[] bytes, Decoder<T> decoder) {
        try {
            RecordFields fields = RecordFields.decode(bytes);
            String version = fields.text("version");
            if (!version.equals(VERSION)) {
                throw new IllegalArgumentException("its version is " + version + ", and this manager knows version "
                        + VERSION + ": run a newer one");
            }
            return decoder.decode(path, fields);
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw new MalformedRecordException(path, String.valueOf(e.getMessage()), e);
        }
    }

    private static void requirePath(String path, String expected) {
        if (!path.equals(expected)) {
            throw new IllegalArgumentException("by its id it belongs at " + expected);
        }
    }

    private static String plan(@Nullable CachePlan plan) {
        if (plan == null) {
            return "";
        }
        String numbers = plan.switches() + "," + plan.serverThreads() + "," + plan.threadRegions();
        return Stream.concat(Stream.of(numbers), plan.left().stream().map(NodePaths::hex))
                .collect(Collectors.joining(","));
    }

    private static @Nullable CachePlan plan(String text) {
        if (text.isEmpty()) {
            return null;
        }
        String[] parts = text.split(",", -1);
        if (parts.length < PLAN_NUMBERS) {
            throw new IllegalArgumentException("plan has " + text + ", and not switches,threads,regions and servers");
        }
        SortedSet<Long> left = new TreeSet<>();
        for (String server : List.of(parts).subList(PLAN_NUMBERS, parts.length)) {
            left.add(RecordFields.id("plan", server));
        }
        return new CachePlan(
                Math.toIntExact(RecordFields.number("plan", parts[0])),
                Math.toIntExact(RecordFields.number("plan", parts[1])),
                RecordFields.number("plan", parts[2]),
                left);
    }

    private static String counts(SortedMap<Long, Integer> counts) {
        return counts.entrySet().stream().map(RecordFormat::count).collect(Collectors.joining(","));
    }

    private static String count(Map.Entry<Long, Integer> count) {
        return NodePaths.hex(count.getKey()) + ":" + count.getValue();
    }

    private static SortedMap<Long, Integer> counts(String key, String text) {
        SortedMap<Long, Integer> counts = new TreeMap<>();
        if (text.isEmpty()) {
            return counts;
        }
        for (String part : text.split(",", -1)) {
            int colon = part.indexOf(':');
            if (colon < 0) {
                throw new IllegalArgumentException(key + " has " + part + ", and not server:count");
            }
            long server = RecordFields.id(key, part.substring(0, colon));
            int count = Math.toIntExact(RecordFields.number(key, part.substring(colon + 1)));
            if (counts.put(server, count) != null) {
                throw new IllegalArgumentException(key + " has server " + NodePaths.hex(server) + " twice");
            }
        }
        return counts;
    }
}
