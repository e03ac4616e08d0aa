package io.farheap.manager.state;

import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;

/**
 * Copies a state from one place to another, node by node. At no moment can managers open both. If a copy is
 * interrupted, either managers can open the source, or the same copy, run once more, completes it:
 *
 * <ol>
 *   <li>The source is fenced. If the copy is interrupted from here on, the source's epoch is higher, as after a
 *       manager's start.
 *   <li>The target is marked as incomplete, and its epoch is raised above the source's, since memory servers refuse
 *       grants of a lower epoch than they have seen. If the copy is interrupted from here on, managers refuse the
 *       target, and may open the source. The same copy, run once more, starts from the beginning.
 *   <li>The nodes are written, and read back from both.
 *   <li>The source is marked as moved, on condition that no manager has opened it since it was fenced. If the copy is
 *       interrupted here, managers refuse both. The two marks name the same copy, so when it is run once more it knows
 *       that only the last step is missing. The other order of these two steps could leave two states that managers can
 *       open.
 *   <li>The target's mark is removed.
 * </ol>
 */
public final class StateCopy {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** The step that was just completed. */
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
     * Copies a state. When it returns, managers may open the target, and none can open the source.
     *
     * @return what was copied
     * @throws StateException if the source is in use or was copied elsewhere already, the target is not empty, or
     *     ZooKeeper does not answer; the message has the remedy
     */
    public static StateStatistics run(StateLocation from, StateLocation to) {
        return new StateCopy(from, to, PATIENCE, _ -> {}).run();
    }

    StateStatistics run() {
        if (from.toString().equals(to.toString())) {
            throw new StateException(from + " has the state already: copy it to another place");
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
                            + "): ZooKeeper must answer at both places, and more than half of an ensemble must run; "
                            + "run the copy once more when they do",
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
        // First, so that a refusal disturbs no running manager.
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
                // Checked now: managers of this release would refuse the record at the target too, and then it would be
                // too late.
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

    /** Reads both and compares them. */
    private StateStatistics compared(CopySource source, CopyTarget target) throws Exception {
        StateStatistics contents = new StateStatistics();
        NodeTree.walk(source.reads(), (paths, nodes) -> {
            List<PipelinedReads.Node> copies = target.reads().nodes(paths);
            for (int i = 0; i < paths.size(); i++) {
                PipelinedReads.Node node = nodes.get(i);
                PipelinedReads.Node copy = copies.get(i);
                // The target has as many children, and each child of the source is there: so it has no others.
                if (copy == null || copy.children() != node.children() || !Arrays.equals(copy.data(), node.data())) {
                    throw new StateException("the node " + paths.get(i) + " is not in " + to + " as it is in " + from
                            + ": another process writes there; stop it, and copy once more");
                }
                contents.add(paths.get(i), node.data());
            }
        });
        return contents;
    }
}
