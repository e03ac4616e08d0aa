package io.farheap.testing;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.agrona.collections.LongHashSet;

/**
 * Runs a program again and again from its beginning, until each of its choices was answered in each way. So all
 * interleavings of code that cannot be copied amid its work are explored, such as that of the product. A program whose
 * choices are answered as before does as before. Of the states that it meets a hash of 64 bits is kept, and a run ends
 * at one that was met.
 */
public final class ChoiceExplorer {

    /** The answer to a choice in a state that was met before: the run is to end there. */
    public static final int MET = -1;

    private static final int FIRST = 64;
    private static final long FACTOR = 0x9E3779B97F4A7C15L;
    private static final long SECOND_FACTOR = 0xBF58476D1CE4E5B9L;

    private final int mostStates;
    private final LongHashSet met = new LongHashSet();
    /** The choices of this run: how many answers each has, and which it has got. */
    private int[] counts = new int[FIRST];

    private int[] taken = new int[FIRST];
    private int length;
    /** How many of them were answered by the run before. */
    private int replayed;

    private int at;
    private int runs;
    private boolean tracing;
    private final List<String> lines = new ArrayList<>();

    /** Runs from its beginning to its end, or until a choice says {@link #MET}. */
    public interface Program {

        /** @return what is wrong; empty if nothing is */
        String run(ChoiceExplorer choices);
    }

    /**
     * What an exploration has found.
     *
     * @param complete whether all choices were answered in each way
     * @param wrong what a run has found; empty if none has found anything
     * @param history of that run
     */
    public record Exploration(int runs, int states, boolean complete, String wrong, List<String> history) {

        @Override
        public String toString() {
            String head = wrong.isEmpty() ? "nothing wrong" : wrong;
            return head + " in " + states + " states and " + runs + " runs"
                    + (complete || !wrong.isEmpty() ? "" : ", and there are more") + "\n" + String.join("\n", history);
        }
    }

    private ChoiceExplorer(int mostStates) {
        this.mostStates = mostStates;
    }

    /** Explores a program, until it finds something wrong or has met so many states. */
    public static Exploration explore(int mostStates, Program program) {
        return new ChoiceExplorer(mostStates).explore(program);
    }

    private Exploration explore(Program program) {
        do {
            String wrong = once(program);
            if (!wrong.isEmpty()) {
                tracing = true;
                replayed = length;
                once(program);
                return new Exploration(runs, met.size(), false, wrong, List.copyOf(lines));
            }
            if (met.size() >= mostStates) {
                return new Exploration(runs, met.size(), false, "", List.of());
            }
        } while (next());
        return new Exploration(runs, met.size(), true, "", List.of());
    }

    private String once(Program program) {
        at = 0;
        length = replayed;
        runs++;
        return program.run(this);
    }

    /** The answers of the next run, as far as this one's do not end with the last of each. @return if there is one */
    private boolean next() {
        while (length > 0 && taken[length - 1] + 1 == counts[length - 1]) {
            length--;
        }
        if (length > 0) {
            taken[length - 1]++;
        }
        replayed = length;
        return length > 0;
    }

    /**
     * Makes a choice.
     *
     * @param count of its answers, at least 1
     * @param state all on which the rest of the run depends, beside the answers to come, as {@link #mix} hashes it
     * @return 0 to {@code count} - 1, or {@link #MET}
     */
    public int choose(int count, long state) {
        boolean again = at < replayed || tracing;
        return again || met.add(state) ? choose(count) : MET;
    }

    /** Makes a choice within a step. @return 0 to {@code count} - 1 */
    public int choose(int count) {
        if (count == 1) {
            return 0;
        }
        if (at == length) {
            if (length == taken.length) {
                taken = Arrays.copyOf(taken, 2 * length);
                counts = Arrays.copyOf(counts, 2 * length);
            }
            taken[length] = 0;
            counts[length++] = count;
        }
        return taken[at++];
    }

    /** A line of the history, of a run that has found something wrong. */
    public void trace(Supplier<String> line) {
        if (tracing) {
            lines.add(line.get());
        }
    }

    /** A hash of all that one is of, and a number more. */
    public static long mix(long hash, long more) {
        long mixed = (Long.rotateLeft(hash, 23) ^ more) * FACTOR;
        mixed = (mixed ^ mixed >>> 29) * SECOND_FACTOR;
        return mixed ^ mixed >>> 32;
    }
}
