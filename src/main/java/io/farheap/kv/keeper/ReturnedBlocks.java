package io.farheap.kv.keeper;

import io.farheap.kv.blocks.HeldBlocks;
import io.farheap.kv.blocks.Mailbox;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.space.SpaceMemory;
import java.util.function.Predicate;
import org.agrona.collections.Int2ObjectHashMap;

/** Blocks of a process that go back to the servers on which they lie. The keeper's thread. */
final class ReturnedBlocks {

    private final MapServers servers;
    private final SpaceMemory space;
    private final Predicate<MapServiceClient> taker;
    private final Int2ObjectHashMap<HeldBlocks> waiting = new Int2ObjectHashMap<>();

    /** @param taker hands the late answer to a {@link MapCalls#TAKE} to a session; false if no session wants it */
    ReturnedBlocks(MapServers servers, SpaceMemory space, Predicate<MapServiceClient> taker) {
        this.servers = servers;
        this.space = space;
        this.taker = taker;
    }

    void add(HeldBlocks blocks) {
        for (int i = 0; i < blocks.count(); i++) {
            add(blocks.word(i));
        }
    }

    private void add(long word) {
        int server = space.serverOf(word);
        // Blocks on a server that has left have ended with its space.
        if (servers.of(server) != null) {
            blocks(server).add(word);
        }
    }

    /** A server has left, and its blocks have ended. */
    void forget(int server) {
        waiting.remove(server);
    }

    /** Takes the blocks that a session gives back. */
    void collect(Mailbox mailbox) {
        long end = mailbox.backEnd();
        for (long i = mailbox.backFirst(); i < end; i++) {
            add(mailbox.back(i));
        }
        mailbox.wentBack(end);
    }

    /** Adds the blocks that may not have gone back yet. */
    void held(HeldBlocks into) {
        for (MapServer server : servers.all()) {
            HeldBlocks blocks = blocks(server.number());
            for (int i = 0; i < blocks.count(); i++) {
                into.add(blocks.word(i));
            }
        }
    }

    private HeldBlocks blocks(int server) {
        return waiting.computeIfAbsent(server, number -> new HeldBlocks());
    }

    boolean isEmpty(int server) {
        return blocks(server).count() == 0;
    }

    /**
     * Calls each server once to give blocks back. Blocks on a server that is about to leave wait until it has left or
     * stays.
     *
     * @param all gives those back too
     * @return whether anything went back
     */
    boolean give(boolean all) {
        boolean gave = false;
        for (MapServer server : servers.all()) {
            MapServiceClient line = server.line();
            HeldBlocks blocks = blocks(line.number);
            if (line.unanswered()) {
                gave |= again(line, blocks);
            } else if (blocks.count() > 0 && (all || !space.isLeaving(blocks.word(0)))) {
                int n = Math.min(MapCalls.MOST_WORDS, blocks.count());
                line.changing(2, n);
                for (int i = 0; i < n; i++) {
                    line.changing(3 + i, blocks.word(i));
                }
                if (line.change(MapCalls.GIVE, 3 + n)) {
                    blocks.removeFirst(n);
                    gave = true;
                }
            }
        }
        return gave;
    }

    /**
     * Repeats a change that has no answer. A GIVE removes its blocks here; the blocks of a TAKE go to a session or go
     * back.
     */
    private boolean again(MapServiceClient line, HeldBlocks blocks) {
        if (!line.again()) {
            return false;
        }
        if (line.unansweredOperation() == MapCalls.GIVE) {
            blocks.removeFirst((int) line.changeWord(2));
        } else if (taker.test(line)) {
            return true;
        } else if (line.reply(1) == MapCalls.SEGMENT) {
            for (int i = 0; i < line.reply(2); i += 2) {
                blocks.addSegment((int) line.changeWord(2), line.reply(3 + i), (int) line.reply(4 + i));
            }
        } else {
            for (int i = 0; i < line.reply(2); i++) {
                blocks.add(line.reply(3 + i));
            }
        }
        return true;
    }
}
