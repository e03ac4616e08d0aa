package io.farheap.kv.leased.server;

import io.farheap.kv.format.BlockAudit;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.TextWords;
import io.farheap.kv.leased.format.ShardCalls;
import io.farheap.kv.leased.format.ShardDirectory;
import io.farheap.rpc.Arguments;
import io.farheap.rpc.HeldRegions;
import io.farheap.rpc.Reply;
import io.farheap.rpc.RpcHandlers;
import io.farheap.server.contract.ServedSpace;
import io.farheap.server.contract.ServedSpaces;
import org.jspecify.annotations.Nullable;

/** The calls of {@link ShardCalls} on one memory server, checked: any process with a lease may send any bytes. */
final class EditionServices {

    private final ServedMaps maps;
    private final ServedSpaces spaces;

    private interface Call {
        /** @return words of the reply */
        int on(ShardEdition edition, long lease, Arguments in, Reply out);
    }

    private interface ShardsCall {
        /** @return words of the reply */
        int on(ServedShards shards, long lease, Arguments in, Reply out);
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
        add(handlers, ShardCalls.RELEASE, this::release);
        add(handlers, ShardCalls.INSTALL, EditionServices::install);
        handlers.register(ShardCalls.AUDIT, (held, in, out) -> serve(this::audit, held, in, out));
        add(handlers, ShardCalls.NAME, EditionServices::name);
        add(handlers, ShardCalls.PROCESSES, (edition, lease, in, out) -> {
            out.setLong(0, MapCalls.OK);
            out.setLong(word(1), edition.ofOlderEditions());
            return 2;
        });
        add(handlers, ShardCalls.ADDRESS, (edition, lease, in, out) -> {
            byte[] address = edition.address(Math.clamp(in.getLong(word(1)), 0, Integer.MAX_VALUE));
            out.setLong(0, MapCalls.OK);
            out.setLong(word(1), address.length);
            long[] words = new long[Math.ceilDiv(address.length, Long.BYTES)];
            TextWords.words(address, words, 0);
            for (int i = 0; i < words.length; i++) {
                out.setLong(word(2 + i), words[i]);
            }
            return 2 + words.length;
        });
    }

    private void add(RpcHandlers handlers, int operation, Call call) {
        ShardsCall ofShards = (shards, lease, in, out) -> call.on(shards.edition(), lease, in, out);
        handlers.register(operation, (held, in, out) -> serve(ofShards, held, in, out));
    }

    private int serve(ShardsCall call, HeldRegions held, Arguments in, Reply out) {
        ServedSpace space = spaces.find(in.getLong(0));
        ServedShards shards = space == null || !space.openedBy(held.lease()) ? null : maps.shards(space);
        if (space == null || shards == null) {
            out.setLong(0, MapCalls.NO_MAP);
            return Long.BYTES;
        }
        int words = call.on(shards, held.lease(), in, out);
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
        out.setLong(word(1), edition.usedId());
        return 2;
    }

    private static int seal(ShardEdition edition, long lease, Arguments in, Reply out) {
        boolean atOnce = in.getLong(word(2)) != 0;
        out.setLong(0, edition.seal(lease, in.getLong(word(1)), atOnce, in.getLong(word(3)), in.getLong(word(4))));
        out.setLong(word(1), edition.isOpen() ? 1 : 0);
        return 2;
    }

    private static int install(ShardEdition edition, long lease, Arguments in, Reply out) {
        if (!edition.mayChange(lease, in.getLong(word(1)))) {
            out.setLong(0, MapCalls.STALE);
            return 1;
        }
        ShardDirectory next = next(edition, in);
        out.setLong(
                0,
                next == null ? MapCalls.WRONG : edition.install(lease, in.getLong(word(1)), in.getLong(word(2)), next));
        return 1;
    }

    private int release(ShardEdition edition, long lease, Arguments in, Reply out) {
        if (!edition.mayChange(lease, in.getLong(word(1)))) {
            // A list of changes takes some ms, in which the thread answers no call of another process.
            out.setLong(0, MapCalls.STALE);
            return 1;
        }
        ShardDirectory next = next(edition, in);
        long status = next == null ? MapCalls.WRONG : edition.release(lease, in.getLong(word(1)), next);
        if (status == ShardCalls.NOT_YET) {
            maps.released();
        }
        out.setLong(0, status);
        return 1;
    }

    private int audit(ServedShards shards, long lease, Arguments in, Reply out) {
        int number = Math.clamp(in.getLong(word(1)), 0, Integer.MAX_VALUE);
        BlockAudit found = number == 0 ? null : shards.audited(number);
        out.setLong(0, MapCalls.OK);
        out.setLong(word(1), number == 0 ? shards.beginAudit() : found == null ? 0 : 1);
        if (found == null) {
            maps.released();
            return 2;
        }
        long[] words = {
            found.blocks(), found.pooled(), found.worn(), found.held(), found.named(), found.lost(), found.wrong()
        };
        for (int i = 0; i < words.length; i++) {
            out.setLong(word(2 + i), words[i]);
        }
        return 2 + words.length;
    }

    /** The next edition of a call; null if there can be no such one. */
    private static @Nullable ShardDirectory next(ShardEdition edition, Arguments in) {
        long changes = in.getLong(word(3));
        if (changes < 0 || changes > ShardDirectory.MOST_CHANGES) {
            return null;
        }
        ShardDirectory next = edition.made();
        try {
            for (int i = 0; i < changes; i++) {
                next = next.with(ShardDirectory.Change.of(in.getLong(word(ShardCalls.EDITION_WORDS + i))));
            }
            return next;
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    private static int name(ShardEdition edition, long lease, Arguments in, Reply out) {
        long bytes = in.getLong(word(2));
        if (bytes < 1 || bytes > MapCalls.MOST_ADDRESS_BYTES) {
            out.setLong(0, MapCalls.WRONG);
            return 1;
        }
        long[] words = new long[Math.ceilDiv((int) bytes, Long.BYTES)];
        for (int i = 0; i < words.length; i++) {
            words[i] = in.getLong(word(3 + i));
        }
        int server = Math.clamp(in.getLong(word(1)), 0, Integer.MAX_VALUE);
        out.setLong(0, edition.name(lease, server, TextWords.bytes(words, 0, (int) bytes)));
        return 1;
    }

    private static int word(int index) {
        return index * Long.BYTES;
    }
}
