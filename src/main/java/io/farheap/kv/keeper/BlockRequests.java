package io.farheap.kv.keeper;

import io.farheap.kv.blocks.Mailbox;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.SizeClasses;
import io.farheap.kv.space.SpaceMemory;
import java.util.List;
import java.util.function.Supplier;

/**
 * Asks the servers of a map for the blocks that a process's sessions want. Where a server may only be late, a session
 * goes on waiting: who is told that there is nothing evicts, perhaps from a map that has room. The keeper's thread.
 */
final class BlockRequests {

    /** No answer to {@link MapCalls#TAKE}, which may only be late. */
    private static final long UNKNOWN = -1;

    private final MapServers servers;
    private final SpaceMemory space;
    private final Supplier<List<Mailbox>> mailboxes;
    private final Runnable hurryAll;
    private int nextServer;
    private boolean waiting;

    /** @param hurryAll makes the next beat to each server come soon */
    BlockRequests(MapServers servers, SpaceMemory space, Supplier<List<Mailbox>> mailboxes, Runnable hurryAll) {
        this.servers = servers;
        this.space = space;
        this.mailboxes = mailboxes;
        this.hurryAll = hurryAll;
    }

    /** Before a round in which each session is asked what it wants. */
    void begin() {
        waiting = false;
    }

    /** Whether a session has waited in this round for what there is to be soon. */
    boolean waits() {
        return waiting;
    }

    /**
     * Asks for what a session wants, if it wants something.
     *
     * @return whether it was answered
     */
    boolean fetch(Mailbox mailbox) {
        int sizeClass = mailbox.asked();
        if (sizeClass < 0) {
            return false;
        }
        int largest = mailbox.largestAsked();
        // One that is too large would be better than none, but what there is to be soon is better than that.
        int near = Math.min(largest, SizeClasses.near(sizeClass));
        long answer = take(mailbox, sizeClass, near, mailbox.wanted());
        if (answer == MapCalls.LATER && mailbox.mayWait()) {
            waiting = true;
            // The servers are to know soon that no request in flight is as old.
            hurryAll.run();
            return false;
        }
        boolean stuck = answer == MapCalls.STUCK;
        if (isNothing(answer) && largest > near) {
            answer = take(mailbox, sizeClass, largest, MapCalls.FIRST);
        }
        if (answer == UNKNOWN) {
            waiting = true;
            return false;
        }
        if (isNothing(answer)) {
            mailbox.answerNothing(stuck ? MapCalls.STUCK : MapCalls.NOTHING);
        }
        return true;
    }

    private static boolean isNothing(long answer) {
        return answer == MapCalls.LATER || answer == MapCalls.NOTHING || answer == MapCalls.STUCK;
    }

    /** Asks the servers in turns. @return the kind of what the session was answered, or was not */
    private long take(Mailbox mailbox, int sizeClass, int largest, long want) {
        boolean soon = false;
        boolean stuck = false;
        boolean late = false;
        List<MapServer> present = servers.all();
        for (int tried = 0; tried < present.size(); tried++) {
            nextServer = (nextServer + 1) % present.size();
            MapServiceClient line = present.get(nextServer).line();
            if (!line.unanswered()
                    && line.changing(2, sizeClass)
                            .changing(3, blocksAtOnce(sizeClass))
                            .changing(4, largest)
                            // One that empties segments is enough.
                            .changing(5, soon ? Math.min(want, MapCalls.FIRST) : want)
                            .changing(6, mailbox.segmentsWanted())
                            .change(MapCalls.TAKE, 7)) {
                if (!isNothing(line.reply(1))) {
                    mailbox.answer(line::reply);
                    return line.reply(1);
                }
                soon |= line.reply(1) == MapCalls.LATER;
                stuck |= line.reply(1) == MapCalls.STUCK;
            }
            late |= line.late();
        }
        if (late) {
            return UNKNOWN;
        }
        return soon ? MapCalls.LATER : stuck ? MapCalls.STUCK : MapCalls.NOTHING;
    }

    private int blocksAtOnce(int sizeClass) {
        int bytes = SizeClasses.units(sizeClass) * BlockFormat.UNIT_BYTES;
        return Math.clamp(space.shape().segmentBytes() / bytes, 1, MapCalls.MOST_TAKEN);
    }

    /**
     * Hands what a {@link MapCalls#TAKE} has given late to a session that asks for it.
     *
     * @return false where none does
     */
    boolean takenLate(MapServiceClient line) {
        if (isNothing(line.reply(1))) {
            return false;
        }
        for (Mailbox mailbox : mailboxes.get()) {
            if (mailbox.asked() == line.changeWord(2) && mailbox.largestAsked() >= line.changeWord(4)) {
                mailbox.answer(line::reply);
                return true;
            }
        }
        // Whoever waits no more may have been told that there is nothing.
        mailboxes.get().forEach(Mailbox::hope);
        return false;
    }
}
