package io.farheap.kv.leased.server;

import io.farheap.kv.format.MapCalls;
import io.farheap.kv.leased.format.ShardCalls;
import io.farheap.kv.leased.format.ShardDirectory;
import io.farheap.rpc.Arguments;
import io.farheap.rpc.HeldRegions;
import io.farheap.rpc.Reply;
import io.farheap.rpc.RpcHandlers;
import io.farheap.server.contract.ServedSpace;
import io.farheap.server.contract.ServedSpaces;

/** The calls of {@link ShardCalls} on one memory server, checked: any process with a lease may send any bytes. */
final class EditionServices {

    private final ServedMaps maps;
    private final ServedSpaces spaces;

    private interface Call {
        /** @return words of the reply */
        int on(ShardEdition edition, long lease, Arguments in, Reply out);
    }

    EditionServices(ServedMaps maps, ServedSpaces spaces) {
        this.maps = maps;
        this.spaces = spaces;
    }

    void install(RpcHandlers handlers) {
        add(handlers, ShardCalls.REGISTER, EditionServices::register);
        add(handlers, ShardCalls.BEAT, EditionServices::beat);
        add(handlers, ShardCalls.EDITION, (edition, lease, in, out) -> edition.say(out));
        add(handlers, ShardCalls.SEAL, EditionServices::seal);
        add(handlers, ShardCalls.UNSEAL, (edition, lease, in, out) -> {
            edition.unseal(lease);
            out.setLong(0, MapCalls.OK);
            return 1;
        });
        add(handlers, ShardCalls.INSTALL, EditionServices::install);
    }

    private void add(RpcHandlers handlers, int operation, Call call) {
        handlers.register(operation, (held, in, out) -> serve(call, held, in, out));
    }

    private int serve(Call call, HeldRegions held, Arguments in, Reply out) {
        ServedSpace space = spaces.find(in.getLong(0));
        ServedShards shards = space == null || !space.openedBy(held.lease()) ? null : maps.shards(space);
        if (space == null || shards == null) {
            out.setLong(0, MapCalls.NO_MAP);
            return Long.BYTES;
        }
        int words = call.on(shards.edition(), held.lease(), in, out);
        if (!space.openedBy(held.lease())) {
            // The lease has ended meanwhile, and its end may have been reported before this call.
            shards.edition().ended(held.lease());
        }
        return words * Long.BYTES;
    }

    private static int register(ShardEdition edition, long lease, Arguments in, Reply out) {
        out.setLong(0, edition.register(lease, in.getLong(word(1))));
        return 1;
    }

    private static int beat(ShardEdition edition, long lease, Arguments in, Reply out) {
        out.setLong(0, edition.beat(lease, in.getLong(word(1))));
        out.setLong(word(1), edition.id());
        return 2;
    }

    private static int seal(ShardEdition edition, long lease, Arguments in, Reply out) {
        out.setLong(0, edition.seal(lease, in.getLong(word(1)), in.getLong(word(2)) != 0));
        out.setLong(word(1), edition.isOpen() ? 1 : 0);
        return 2;
    }

    private static int install(ShardEdition edition, long lease, Arguments in, Reply out) {
        out.setLong(0, MapCalls.WRONG);
        long changes = in.getLong(word(3));
        if (changes >= 0 && changes <= ShardDirectory.MOST_CHANGES) {
            ShardDirectory next = edition.made();
            try {
                for (int i = 0; i < changes; i++) {
                    next = next.with(ShardDirectory.Change.of(in.getLong(word(ShardCalls.EDITION_WORDS + i))));
                }
                out.setLong(0, edition.install(lease, in.getLong(word(1)), in.getLong(word(2)), next));
            } catch (IllegalArgumentException e) {
                // They cannot follow on each other.
            }
        }
        return 1;
    }

    private static int word(int index) {
        return index * Long.BYTES;
    }
}
