package io.farheap.kv.keeper;

import io.farheap.kv.blocks.Mailbox;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.SizeClasses;
import io.farheap.kv.space.SpaceMemory;
import java.util.List;
import java.util.function.Supplier;

/**
 * Asks the servers of a map for the blocks that a process's sessions want. If a server's answer may only be late, the
 * session continues to wait: a session that receives an answer of nothing evicts, perhaps from a map that has room. The
 * keeper's thread.
 */
final class BlockRequests {

    /** A {@link MapCalls#TAKE} has no answer, but the answer may only be late. */
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

    /** Begins a round, in which the question of each session is fetched. */
    void begin() {
        waiting = false;
    }

    /** Whether a session has been left waiting in this round. */
    boolean waits() {
        return waiting;
    }

    /**
     * Asks the servers for the blocks that a session wants, if it wants any.
     *
     * @return whether the session has been answered
     */
    boolean fetch(Mailbox mailbox) {
        int sizeClass = mailbox.asked();
        if (sizeClass < 0) {
            return false;
        }
        int largest = mailbox.largestAsked();
        // A block of a much larger class is better than none, but blocks that come soon are better than that.
        int near = Math.min(largest, SizeClasses.near(sizeClass));
        long answer = take(mailbox, sizeClass, near, mailbox.wanted());
        if (answer == MapCalls.LATER && mailbox.mayWait()) {
            waiting = true;
            // Servers should soon know that no request in flight is of an old era.
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

    /** Asks the servers in turns. @return the kind of the answer that the session has received, or would receive */
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
                            // If one server empties segments for this, that is enough.
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
     * Hands the late answer to a {@link MapCalls#TAKE} to a session that asks for such blocks.
     *
     * @return false if no session does
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
        // Sessions that do not wait any more may have received an answer of nothing.
        mailboxes.get().forEach(Mailbox::hope);
        return false;
    }
}
