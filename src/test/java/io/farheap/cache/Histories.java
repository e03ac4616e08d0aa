package io.farheap.cache;

import io.farheap.testing.RegisterHistory;
import java.util.ArrayList;
import java.util.List;

/**
 * Windows of a cache's address space in which every 8-byte word has a history. Windows lie at region boundaries and in
 * the middle of regions; requests stay within one.
 */
public final class Histories {

    /** Values of {@link HistoryClient} have 4 bits for the word. */
    static final int WINDOW_WORDS = 16;

    public static final int WINDOW_BYTES = WINDOW_WORDS * Long.BYTES;

    private final long[] windows;
    private final RegisterHistory[][] words;

    public Histories(long... windows) {
        this.windows = windows;
        this.words = new RegisterHistory[windows.length][WINDOW_WORDS];
        for (RegisterHistory[] window : words) {
            for (int i = 0; i < WINDOW_WORDS; i++) {
                window[i] = new RegisterHistory();
            }
        }
    }

    int windows() {
        return windows.length;
    }

    long address(int window, int word) {
        return windows[window] + (long) word * Long.BYTES;
    }

    synchronized void write(int window, int word, long value, long invoked, long responded) {
        words[window][word].write(value, invoked, responded);
    }

    synchronized void attempt(int window, int word, long value, long invoked, long responded) {
        words[window][word].attempt(value, invoked, responded);
    }

    synchronized void read(int window, int word, long value, long invoked, long responded) {
        words[window][word].read(value, invoked, responded);
    }

    public synchronized List<String> violations() {
        List<String> violations = new ArrayList<>();
        for (int window = 0; window < windows.length; window++) {
            for (int word = 0; word < WINDOW_WORDS; word++) {
                String violation = words[window][word].violation();
                if (violation != null) {
                    violations.add("address " + address(window, word) + ": " + violation);
                }
            }
        }
        return violations;
    }
}
