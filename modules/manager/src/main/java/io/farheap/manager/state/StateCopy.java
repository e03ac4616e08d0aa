package io.farheap.manager.state;

import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;

/**
 * Brings a state from one place to another, node by node as it is. At no moment can managers open both, and whenever it
 * is interrupted, the state can be opened at the first, or the same copy once more completes it:
 *
 * <ol>
 *   <li>The source is fenced. Interrupted from here on: its epoch is higher, as after a manager's start.
 *   <li>The target is marked as half made, and its epoch is raised above the source's, since memory servers refuse
 *       grants of lower ones than they have seen. Interrupted from here on: managers refuse the target, and may open
 *       the source. The same copy once more begins anew.
 *   <li>The nodes are written, and read back from both.
 *   <li>The source is marked as moved, on condition that nobody has opened it since it was fenced. Interrupted here:
 *       managers refuse both. The two marks name one copy, by which the same copy once more knows that only the last
 *       step is missing. The other order of these two could leave two states that live.
 *   <li>The target's mark is removed.
 * </ol>
 */
public final class StateCopy {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** What was just done. */
    enum Step {
        FENCED,
        MARKED,
        WRITTEN,
        COMPARED,
        MOVED
    }

    private final StateLocation from;
    private final StateLocation to;
    private final Duration patience;
    private final Consumer<Step> steps;

    /** @param patience for ZooKeeper's answers */
    StateCopy(StateLocation from, StateLocation to, Duration patience, Consumer<Step> steps) {
        this.from = from;
        this.to = to;
        this.patience = patience;
        this.steps = steps;
    }

    /**
     * Returns when managers may open it there, and none here.
     *
     * @return what was copied
     * @throws StateException it is in use or was copied elsewhere already, the other place is not empty, or ZooKeeper
     *     does not answer; it says what helps
     */
    public static StateStatistics run(StateLocation from, StateLocation to) {
        return new StateCopy(from, to, PATIENCE, _ -> {}).run();
    }

    StateStatistics run() {
        if (from.toString().equals(to.toString())) {
            throw new StateException(from + " is where the state is: copy it to another place");
        }
        try (CopySource source = new CopySource(from, patience);
                CopyTarget target = new CopyTarget(to, patience)) {
            return copy(source, target);
        } catch (StateException e) {
            throw e;
        } catch (Exception e) {
            if (e instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            throw new StateException(
                    "the copy of " + from + " to " + to + " is not complete (" + e
                            + "): ZooKeeper has to answer at both, and more than half of an ensemble to run; see to "
                            + "that, and run it once more",
                    e);
        }
    }

    private StateStatistics copy(CopySource source, CopyTarget target) throws Exception {
        EpochStatus standing = source.standing();
        if (standing instanceof EpochStatus.MovedState moved
                && target.standing() instanceof EpochStatus.IncompleteCopy halfMade
                && halfMade.copy().equals(moved.copy())) {
            StateStatistics contents = compared(source, target);
            target.release(moved.copy());
            return contents;
        }
        standing.requireOpen();
        // First, so that a refusal disturbs nobody.
        target.requireFree(from);
        String copy = HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
        int epoch = source.fence(to);
        steps.accept(Step.FENCED);
        target.begin(copy, from, epoch);
        steps.accept(Step.MARKED);
        write(source, target);
        StateStatistics contents = compared(source, target);
        steps.accept(Step.COMPARED);
        source.moved(copy, to);
        steps.accept(Step.MOVED);
        target.release(copy);
        return contents;
    }

    private void write(CopySource source, CopyTarget target) throws Exception {
        StateWriteBatch[] batch = {new StateWriteBatch()};
        NodeTree.walk(source.reads(), (paths, nodes) -> {
            for (int i = 0; i < paths.size(); i++) {
                byte[] data = nodes.get(i).data();
                // Managers of this release would refuse it there too, and it would be too late.
                StateStatistics.requireReadable(paths.get(i), data);
                if (!batch[0].add(paths.get(i), data)) {
                    target.write(batch[0]);
                    steps.accept(Step.WRITTEN);
                    batch[0] = new StateWriteBatch();
                    batch[0].add(paths.get(i), data);
                }
            }
        });
        target.write(batch[0]);
        steps.accept(Step.WRITTEN);
    }

    /** Reads both. */
    private StateStatistics compared(CopySource source, CopyTarget target) throws Exception {
        StateStatistics contents = new StateStatistics();
        NodeTree.walk(source.reads(), (paths, nodes) -> {
            List<PipelinedReads.Node> copies = target.reads().nodes(paths);
            for (int i = 0; i < paths.size(); i++) {
                PipelinedReads.Node node = nodes.get(i);
                PipelinedReads.Node copy = copies.get(i);
                // As many children, and each of them is there: no others are.
                if (copy == null || copy.children() != node.children() || !Arrays.equals(copy.data(), node.data())) {
                    throw new StateException("the node " + paths.get(i) + " is not in " + to + " as it is in " + from
                            + ": somebody else writes there; stop that, and copy once more");
                }
                contents.add(paths.get(i), node.data());
            }
        });
        return contents;
    }
}
