package io.farheap.manager.simulator;

import java.util.Arrays;

/**
 * The servers of a cluster by what they have free, to find the server that a machine fits best: the one on which the
 * least is left over of cores and, with a weight, of memory. A search takes no longer if there are more servers.
 * Servers are numbered by the owner, from a first number; one thread at a time.
 */
final class BestFit {

    static final int NONE = -1;

    private static final int WORD = 64;

    private final int first;
    private final int cores;
    private final int gib;
    private final int words;
    /** By free cores and memory: the first server of each list, and a set of the lists that are not empty. */
    private final int[] heads;

    private final long[] present;
    /** By server, counted from 0: its neighbors in its list, and the number of that list. */
    private final int[] next;

    private final int[] previous;
    private final int[] lists;

    BestFit(int first, int servers, int cores, int gib) {
        this.first = first;
        this.cores = cores;
        this.gib = gib;
        words = gib / WORD + 1;
        heads = new int[(cores + 1) * (gib + 1)];
        present = new long[(cores + 1) * words];
        next = new int[servers];
        previous = new int[servers];
        lists = new int[servers];
        Arrays.fill(heads, NONE);
        Arrays.fill(lists, NONE);
        // Inserted so that each list is in order from the lowest number.
        for (int server = servers - 1; server >= 0; server--) {
            insert(server, cores, gib);
        }
    }

    /** Sets what a server has free. */
    void update(int server, int freeCores, int freeGib) {
        remove(server - first);
        insert(server - first, freeCores, freeGib);
    }

    /** Returns the server that a machine fits best, or {@link #NONE}. */
    int find(int neededCores, int neededGib) {
        int best = NONE;
        double least = Double.POSITIVE_INFINITY;
        for (int freeCores = neededCores; freeCores <= cores && left(freeCores, neededGib) < least; freeCores++) {
            int free = nextPresent(freeCores, neededGib);
            if (free != NONE && left(freeCores, free) < least) {
                least = left(freeCores, free);
                best = first + heads[freeCores * (gib + 1) + free];
            }
        }
        return best;
    }

    private double left(int freeCores, int freeGib) {
        return freeCores + SimulationParameters.GIB_WEIGHT * freeGib;
    }

    private int nextPresent(int freeCores, int least) {
        if (least > gib) {
            return NONE;
        }
        int word = least / WORD;
        long bits = present[freeCores * words + word] & (-1L << least);
        while (bits == 0) {
            if (++word == words) {
                return NONE;
            }
            bits = present[freeCores * words + word];
        }
        return word * WORD + Long.numberOfTrailingZeros(bits);
    }

    private void insert(int index, int freeCores, int freeGib) {
        int list = freeCores * (gib + 1) + freeGib;
        int head = heads[list];
        lists[index] = list;
        next[index] = head;
        previous[index] = NONE;
        heads[list] = index;
        if (head == NONE) {
            present[freeCores * words + freeGib / WORD] |= 1L << freeGib;
        } else {
            previous[head] = index;
        }
    }

    private void remove(int index) {
        int list = lists[index];
        if (next[index] != NONE) {
            previous[next[index]] = previous[index];
        }
        if (previous[index] != NONE) {
            next[previous[index]] = next[index];
            return;
        }
        heads[list] = next[index];
        if (next[index] == NONE) {
            int freeGib = list % (gib + 1);
            present[list / (gib + 1) * words + freeGib / WORD] &= ~(1L << freeGib);
        }
    }
}
