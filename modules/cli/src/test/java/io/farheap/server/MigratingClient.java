package io.farheap.server;

import io.farheap.cache.Cache;
import io.farheap.migration.MigrationOptions;
import java.util.List;

/**
 * A client process whose one region moves back and forth between two servers, slowly, until it is killed. Arguments:
 * HOST:PORT, twice.
 */
final class MigratingClient {

    /** One small chunk at a time. */
    private static final MigrationOptions SLOWLY =
            MigrationOptions.DEFAULT.chunkBytes(512).windowBytes(512);

    private MigratingClient() {}

    public static void main(String[] servers) {
        Cache cache = Cache.builder().capacity(1).servers(servers[0]).create();
        cache.addServer(servers[1]);
        Thread.ofPlatform().daemon().start(() -> {
            while (cache.movedBytes(0) == 0) {
                Thread.onSpinWait();
            }
            System.out.println("moving");
        });
        for (int turn = 1; ; turn++) {
            cache.migrate(List.of(0), servers[turn % 2], SLOWLY);
        }
    }
}
