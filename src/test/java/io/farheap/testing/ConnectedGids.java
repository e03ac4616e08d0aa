package io.farheap.testing;

import io.farheap.control.plane.ConnectedQueuePair;
import io.farheap.control.plane.ConnectedRing;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.PullSource;
import io.farheap.control.plane.WatermarkEndpoint;
import io.farheap.verbs.Endpoint;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The GIDs of the queue pairs that servers have connected, by the control plane's method: the first two bytes of each
 * in hexadecimal, such as {@code fe80}, or {@code 0000} for an IPv4 address.
 */
public final class ConnectedGids {

    private final Map<String, Set<String>> prefixes = new ConcurrentHashMap<>();

    /** A server's plane whose answers are noted. */
    public ControlPlane noting(ControlPlane server) {
        return PlaneProxy.around(server, (method, arguments, rest) -> {
            Object answer = rest.call();
            Endpoint connected = endpoint(answer);
            if (connected != null) {
                prefixes.computeIfAbsent(method, name -> ConcurrentHashMap.newKeySet())
                        .add(HexFormat.of().formatHex(connected.gid(), 0, 2));
            }
            return answer;
        });
    }

    private static @Nullable Endpoint endpoint(@Nullable Object answer) {
        return switch (answer) {
            case ConnectedQueuePair made -> made.server();
            case ConnectedRing made -> made.server();
            case PullSource made -> made.source();
            case WatermarkEndpoint made -> made.endpoint();
            case null, default -> null;
        };
    }

    /** Those of all queue pairs so far. */
    public Set<String> all() {
        return prefixes.values().stream().flatMap(Set::stream).collect(Collectors.toSet());
    }

    /** Those of a method's queue pairs so far. */
    public Set<String> of(String method) {
        return prefixes.getOrDefault(method, Set.of());
    }
}
