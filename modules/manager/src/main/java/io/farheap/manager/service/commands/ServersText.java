package io.farheap.manager.service.commands;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.farheap.command.Sizes;
import io.farheap.control.ServerDescription;
import io.farheap.control.ServerStatus;
import io.farheap.control.ServerStatus.HeadroomStatus;
import io.farheap.control.ServerStatus.LeaseStatus;
import io.farheap.control.plane.ControlPlane;
import io.farheap.manager.service.caches.Caches;
import java.util.ArrayList;
import java.util.List;

/** Shows what memory servers report of themselves, for people and for scripts. */
final class ServersText {

    private ServersText() {}

    static String table(List<ServersView.ObservedServer> all) {
        List<List<String>> servers = new ArrayList<>();
        List<List<String>> leases = new ArrayList<>();
        servers.add(List.of(
                "SERVER", "NAME", "REGION", "TOTAL", "USED", "FREE", "WITHDRAWN", "LEASES", "SPACES", "HEADROOM"));
        leases.add(List.of("SERVER", "CLIENT", "CACHE", "REGIONS", "CONNECTIONS", "ENDS WITHIN", "CALLS TOOK"));
        List<List<String>> counters = new ArrayList<>();
        counters.add(List.of("SERVER", "COUNTED", "SINCE IT BEGAN"));
        StringBuilder troubles = new StringBuilder();
        for (ServersView.ObservedServer seen : all) {
            ServerStatus status = seen.status();
            if (status == null) {
                troubles.append(seen.trouble()).append('\n');
                continue;
            }
            ServerDescription server = status.server();
            servers.add(List.of(
                    seen.address(),
                    server.name(),
                    Sizes.format(server.regionBytes()),
                    String.valueOf(server.totalRegions()),
                    String.valueOf(used(status)),
                    String.valueOf(server.freeRegions()),
                    String.valueOf(status.withdrawnRegions()),
                    String.valueOf(status.leases().size()),
                    String.valueOf(status.spaces()),
                    headroom(status.headroom())));
            status.counters().forEach((name, count) -> {
                if (count != 0) {
                    counters.add(List.of(seen.address(), name, Long.toUnsignedString(count)));
                }
            });
            for (LeaseStatus lease : status.leases()) {
                leases.add(List.of(
                        seen.address(),
                        lease.clientName(),
                        lease.cacheId() == ControlPlane.NO_CACHE ? "-" : Caches.hex(lease.cacheId()),
                        String.valueOf(lease.regions()),
                        String.valueOf(lease.connections()),
                        lease.leftNanos() / 1_000_000 + " ms",
                        lease.callNanos() / 1_000_000 + " ms"));
            }
        }
        if (servers.size() == 1) {
            // No server has answered: tables without a row would hide the reasons.
            return troubles.toString();
        }
        StringBuilder text = new StringBuilder();
        Overview.append(text, servers);
        text.append('\n');
        Overview.append(text, leases);
        if (counters.size() > 1) {
            text.append('\n');
            Overview.append(text, counters);
        }
        return text.append(troubles.isEmpty() ? "" : "\n").append(troubles).toString();
    }

    /** Returns how many regions leases and spaces hold, or are being zeroed. */
    private static int used(ServerStatus status) {
        return Math.max(0, status.server().totalRegions() - status.server().freeRegions() - status.withdrawnRegions());
    }

    private static String headroom(HeadroomStatus headroom) {
        return headroom.percent() == 0
                ? "-"
                : headroom.percent() + "% of " + mib(headroom.machineBytes()) + ", " + mib(headroom.freeBytes())
                        + " free, " + headroom.askedRegions() + " asked for, " + headroom.evictedRegions()
                        + " evicted";
    }

    private static String mib(long bytes) {
        return (bytes >> 20) + " MiB";
    }

    static JsonArray json(List<ServersView.ObservedServer> all) {
        JsonArray servers = new JsonArray();
        all.forEach(seen -> servers.add(json(seen)));
        return servers;
    }

    private static JsonObject json(ServersView.ObservedServer seen) {
        JsonObject json = new JsonObject();
        json.addProperty("address", seen.address());
        ServerStatus status = seen.status();
        if (status == null) {
            json.addProperty("trouble", seen.trouble());
            return json;
        }
        ServerDescription server = status.server();
        json.addProperty("name", server.name());
        json.addProperty("domain", server.domain().isEmpty() ? seen.address() : server.domain());
        json.addProperty("region_bytes", server.regionBytes());
        json.addProperty("total_regions", server.totalRegions());
        json.addProperty("used_regions", used(status));
        json.addProperty("free_regions", server.freeRegions());
        json.addProperty("withdrawn_regions", status.withdrawnRegions());
        json.addProperty("spaces", status.spaces());
        JsonArray leases = new JsonArray();
        for (LeaseStatus lease : status.leases()) {
            JsonObject one = new JsonObject();
            one.addProperty("client", lease.clientName());
            if (lease.cacheId() != ControlPlane.NO_CACHE) {
                one.addProperty("cache", Caches.hex(lease.cacheId()));
            }
            one.addProperty("regions", lease.regions());
            one.addProperty("connections", lease.connections());
            one.addProperty("left_ms", lease.leftNanos() / 1_000_000);
            one.addProperty("call_ns", lease.callNanos());
            leases.add(one);
        }
        json.add("leases", leases);
        JsonObject counters = new JsonObject();
        status.counters().forEach(counters::addProperty);
        json.add("counters", counters);
        HeadroomStatus headroom = status.headroom();
        if (headroom.percent() != 0) {
            JsonObject one = new JsonObject();
            one.addProperty("percent", headroom.percent());
            one.addProperty("machine_bytes", headroom.machineBytes());
            one.addProperty("machine_free_bytes", headroom.freeBytes());
            one.addProperty("asked_regions", headroom.askedRegions());
            one.addProperty("evicted_regions", headroom.evictedRegions());
            json.add("headroom", one);
        }
        return json;
    }
}
