package io.farheap.manager.service.commands;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.farheap.command.Sizes;
import io.farheap.control.ControlException;
import io.farheap.manager.Allocation;
import io.farheap.manager.CacheDescription;
import io.farheap.manager.CacheManager;
import io.farheap.manager.RegionShare;
import io.farheap.manager.ServerReport;
import io.farheap.manager.service.caches.Caches;
import io.farheap.memory.Plurals;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What a manager reports of its servers and caches. Each page of the answer is of a moment of its own.
 *
 * @param servers those that report, by their address
 * @param caches in the order of their ids
 */
record Overview(long epoch, List<ServerReport> servers, List<CacheDescription> caches) {

    Overview {
        servers = servers.stream()
                .sorted(Comparator.comparing(ServerReport::address))
                .toList();
        caches = List.copyOf(caches);
    }

    /** @throws ControlException as its calls do */
    static Overview of(CacheManager manager) {
        long epoch = manager.hello(CacheManager.PROTOCOL_VERSION);
        List<ServerReport> servers = manager.servers();
        List<CacheDescription> caches = new ArrayList<>();
        List<CacheDescription> page = manager.list(0, CacheManager.MAX_PAGE);
        while (!page.isEmpty()) {
            caches.addAll(page);
            page = page.size() < CacheManager.MAX_PAGE
                    ? List.of()
                    : manager.list(page.getLast().allocation().cacheId(), CacheManager.MAX_PAGE);
        }
        return new Overview(epoch, servers, caches);
    }

    /** Returns a table for people. */
    String table() {
        long total = servers.stream()
                .mapToLong(one -> one.totalRegions() * one.regionBytes())
                .sum();
        long free = servers.stream()
                .mapToLong(one -> one.freeRegions() * one.regionBytes())
                .sum();
        StringBuilder text = new StringBuilder("epoch " + epoch + ", " + Plurals.of(servers.size(), "server") + " with "
                + Sizes.format(total) + ", of which " + Sizes.format(free) + " are free, "
                + Plurals.of(caches.size(), "cache") + "\n\n");
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("SERVER", "TYPE", "PLACE", "REGION", "TOTAL", "FREE", "CACHES", "STATE"));
        for (ServerReport server : servers) {
            rows.add(List.of(
                    server.address(),
                    server.spot() ? server.type() + " (spot)" : server.type(),
                    server.place(),
                    Sizes.format(server.regionBytes()),
                    String.valueOf(server.totalRegions()),
                    String.valueOf(server.freeRegions()),
                    String.valueOf(server.held().size()),
                    state(server)));
        }
        append(text, rows);
        text.append('\n');
        rows.clear();
        rows.add(List.of("CACHE", "NAME", "TENANT", "CAPACITY", "SWITCHES", "THREADS", "LEFT", "SERVERS"));
        for (CacheDescription cache : caches) {
            Allocation allocation = cache.allocation();
            rows.add(List.of(
                    Caches.hex(allocation.cacheId()),
                    cache.name(),
                    cache.tenant(),
                    Sizes.format(allocation.capacity()),
                    String.valueOf(allocation.candidate().switches()),
                    String.valueOf(allocation.candidate().serverThreads()),
                    cache.leftMillis() == 0 ? "for ever" : seconds(cache.leftMillis()),
                    allocation.shares().stream()
                            .map(share -> share.address() + " " + share.regions())
                            .collect(Collectors.joining(", "))));
        }
        append(text, rows);
        appendLate(text);
        return text.toString();
    }

    private static String state(ServerReport server) {
        if (server.leaving()) {
            return "leaves within " + seconds(server.leavesWithinMillis());
        }
        if (server.wantedRegions() == 0) {
            return "serves";
        }
        return "wants " + server.wantedRegions() + " back"
                + (server.unplacedRegions() == 0 ? "" : ", no room for " + server.unplacedRegions());
    }

    /** Appends what leaves servers too late, if anything does. */
    private void appendLate(StringBuilder text) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("LATE", "NAME", "SERVER", "REGIONS", "LOST", "ENDS IN", "FOR LACK OF"));
        for (CacheDescription cache : caches) {
            for (CacheDescription.LateMove late : cache.lateMoves()) {
                rows.add(List.of(
                        Caches.hex(cache.allocation().cacheId()),
                        cache.name(),
                        late.server(),
                        String.valueOf(late.regions()),
                        String.valueOf(late.lost()),
                        seconds(late.leftMillis()),
                        late.room() ? "time" : "room"));
            }
        }
        if (rows.size() > 1) {
            text.append('\n');
            append(text, rows);
        }
    }

    private static String seconds(long millis) {
        Duration left = Duration.ofSeconds(Math.ceilDiv(millis, 1000));
        return left.toString().substring("PT".length()).toLowerCase(Locale.ROOT);
    }

    static void append(StringBuilder text, List<List<String>> rows) {
        int columns = rows.getFirst().size();
        int[] widths = new int[columns];
        for (List<String> row : rows) {
            for (int i = 0; i < columns; i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        }
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < columns; i++) {
                line.append(row.get(i)).repeat(' ', widths[i] - row.get(i).length() + 2);
            }
            text.append(line.toString().stripTrailing()).append('\n');
        }
    }

    /** Returns JSON for scripts: sizes in bytes, times in ms. */
    JsonObject json() {
        JsonObject json = new JsonObject();
        json.addProperty("epoch", epoch);
        json.add("servers", array(servers.stream().map(Overview::json)));
        json.add("caches", array(caches.stream().map(Overview::json)));
        json.add("late_moves", array(caches.stream().flatMap(Overview::lateMoves)));
        json.add(
                "wanted",
                array(servers.stream()
                        .filter(server -> server.wantedRegions() > 0)
                        .map(Overview::wanted)));
        return json;
    }

    private static JsonObject wanted(ServerReport server) {
        JsonObject json = new JsonObject();
        json.addProperty("server", server.address());
        json.addProperty("regions", server.wantedRegions());
        json.addProperty("without_room", server.unplacedRegions());
        return json;
    }

    private static Stream<JsonObject> lateMoves(CacheDescription cache) {
        return cache.lateMoves().stream().map(late -> {
            JsonObject json = new JsonObject();
            json.addProperty("cache", Caches.hex(cache.allocation().cacheId()));
            json.addProperty("name", cache.name());
            json.addProperty("server", late.server());
            json.addProperty("regions", late.regions());
            json.addProperty("lost_regions", late.lost());
            json.addProperty("ends_within_ms", late.leftMillis());
            json.addProperty("room", late.room());
            return json;
        });
    }

    private static JsonObject json(ServerReport server) {
        JsonObject json = new JsonObject();
        json.addProperty("address", server.address());
        json.addProperty("type", server.type());
        json.addProperty("spot", server.spot());
        json.addProperty("place", server.place());
        json.addProperty("domain", server.domain());
        json.addProperty("region_bytes", server.regionBytes());
        json.addProperty("total_regions", server.totalRegions());
        json.addProperty("free_regions", server.freeRegions());
        json.addProperty("withdrawn_regions", server.withdrawnRegions());
        json.addProperty("caches", server.held().size());
        json.addProperty("notice_ms", server.noticeMillis());
        json.addProperty("leaving", server.leaving());
        if (server.leaving()) {
            json.addProperty("leaves_within_ms", server.leavesWithinMillis());
        }
        return json;
    }

    private static JsonObject json(CacheDescription cache) {
        Allocation allocation = cache.allocation();
        JsonObject json = new JsonObject();
        json.addProperty("id", Caches.hex(allocation.cacheId()));
        json.addProperty("name", cache.name());
        json.addProperty("tenant", cache.tenant());
        json.addProperty("capacity", allocation.capacity());
        json.addProperty("generation", allocation.generation());
        json.addProperty("region_bytes", allocation.regionBytes());
        json.addProperty("switches", allocation.candidate().switches());
        json.addProperty("server_threads", allocation.candidate().serverThreads());
        if (cache.leftMillis() != 0) {
            json.addProperty("left_ms", cache.leftMillis());
        }
        json.add("servers", shares(allocation.shares()));
        json.add("reserved", shares(allocation.reserved()));
        return json;
    }

    private static JsonArray shares(List<RegionShare> shares) {
        return array(shares.stream().map(share -> {
            JsonObject json = new JsonObject();
            json.addProperty("address", share.address());
            json.addProperty("regions", share.regions());
            return json;
        }));
    }

    static JsonArray array(Stream<JsonObject> objects) {
        JsonArray array = new JsonArray();
        objects.forEach(array::add);
        return array;
    }
}
