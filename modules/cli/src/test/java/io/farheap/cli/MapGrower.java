package io.farheap.cli;

import io.farheap.kv.FarMap;
import java.time.Duration;

/**
 * A process that repeatedly adds a region to a map on each of its servers, or adds one more server and drains it, until
 * it is killed or refused. It prints a line before it begins.
 */
final class MapGrower {

    private MapGrower() {}

    /** @param arguments name, token, the server that comes and goes or -, and the servers' addresses */
    public static void main(String[] arguments) {
        String other = arguments[2];
        FarMap map = OpenedMap.of(arguments, 3);
        System.out.println("listening on 127.0.0.1:1");
        try {
            while (true) {
                if (other.equals("-")) {
                    map.grow(1);
                } else if (map.servers().contains(other)) {
                    map.drain(other, Duration.ofMillis(50));
                } else {
                    map.addServer(other, 1);
                }
            }
        } catch (RuntimeException e) {
            // There is no more memory, or this process was stopped and its lease has ended.
            System.exit(0);
        }
    }
}
