package io.farheap.kv;

import io.farheap.kv.format.BlockAudit;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.keeper.MapKeeperTasks;
import io.farheap.kv.keeper.MapServer;
import io.farheap.kv.keeper.MapServers;
import io.farheap.kv.keeper.MapServiceClient;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/** Where all blocks of a map were found; as a text, how many where. */
public final class MapAudit {

    static final MapAudit NONE = new MapAudit(BlockAudit.NONE, Set.of());

    private final BlockAudit account;
    private final Set<Long> twice;

    private MapAudit(BlockAudit account, Set<Long> twice) {
        this.account = account;
        this.twice = twice;
    }

    /** Blocks that the servers have in their pools. */
    public long pooled() {
        return account.pooled();
    }

    /** Blocks that sessions hold, free, not cut yet or under way. */
    public long held() {
        return account.held();
    }

    /** Blocks that slots name. */
    public long named() {
        return account.named();
    }

    /** Blocks that were nowhere, and are in the pools now. */
    public long lost() {
        return account.lost();
    }

    /** Words of slots and sessions that name no block there is. */
    public long wrong() {
        return account.wrong();
    }

    /** Words of blocks that two seem to have, some of them at most; those that move meanwhile look like it. */
    public Set<Long> twice() {
        return twice;
    }

    /** Has every server account for its blocks. */
    static MapAudit of(MapServers servers, MapKeeperTasks keeper) {
        Map<MapServiceClient, Long> tickets = new LinkedHashMap<>();
        for (MapServer server : servers.all()) {
            MapServiceClient line = server.line();
            tickets.put(
                    line,
                    keeper.ask(
                            line,
                            () -> line.with(1, 0).call(MapCalls.AUDIT, 2)
                                    ? Optional.of(line.reply(1))
                                    : Optional.empty()));
        }
        MapAudit all = NONE;
        for (MapServiceClient line : tickets.keySet()) {
            long ticket = Objects.requireNonNull(tickets.get(line));
            all = all.plus(keeper.ask(
                    line,
                    () -> line.with(1, ticket).call(MapCalls.AUDIT, 2) && line.reply(1) != 0
                            ? Optional.of(of(line))
                            : Optional.empty()));
        }
        return all;
    }

    /** An answer to {@link MapCalls#AUDIT}. */
    static MapAudit of(MapServiceClient line) {
        long[] words = new long[BlockAudit.WORDS];
        for (int i = 0; i < words.length; i++) {
            words[i] = line.reply(2 + i);
        }
        Set<Long> twice = new HashSet<>();
        for (int i = 0; i < line.reply(2 + BlockAudit.WORDS); i++) {
            twice.add(SlotWord.place(line.reply(3 + BlockAudit.WORDS + i)));
        }
        return new MapAudit(BlockAudit.of(words, 0), twice);
    }

    MapAudit plus(MapAudit other) {
        Set<Long> both = new HashSet<>(twice);
        both.addAll(other.twice);
        return new MapAudit(account.plus(other.account), both);
    }

    /** What was found this time; of two owners, what was found the time before too. */
    MapAudit after(MapAudit before) {
        Set<Long> both = new HashSet<>(twice);
        both.retainAll(before.twice);
        return new MapAudit(account, both);
    }

    /** Whether nothing has moved meanwhile: each block was found once. */
    public boolean quiet() {
        return twice.isEmpty() && account.adds();
    }

    /** Whether nothing is wrong, as far as can be said while others use the map. */
    public boolean sound() {
        return twice.isEmpty() && account.wrong() == 0;
    }

    @Override
    public String toString() {
        return account.toString();
    }
}
