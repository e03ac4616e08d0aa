package io.farheap.kv.model;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Checks while a history of one key grows whether it is linearizable, values and answers alike. A <i>belief</i> is the
 * set of all configurations that the history so far allows: the key's value, and which of the operations that have not
 * ended have taken effect, with which answer. An answer that no configuration has is wrong. Beliefs have numbers, so
 * that a state of the model has a belief in three bytes.
 *
 * <p>A client that dies leaves its operation without an answer: it may take effect at any time later. An operation that
 * is lost has taken effect or never does. If objects may be lost, as the history has evictions or objects that are
 * crowded out, the key may become absent at any moment; it never becomes present by itself.
 */
public final class LinearizabilityMonitor {

    /** The belief after an answer that no order of the operations explains. */
    public static final int WRONG = -1;

    private static final int VALUE_BITS = 3;
    private static final int STATUS_BITS = 4;
    private static final int STATUS_MASK = (1 << STATUS_BITS) - 1;
    private static final int CODE_BITS = 6;
    private static final int CODE_MASK = (1 << CODE_BITS) - 1;
    /** The status of an operation that has not taken effect. */
    private static final int PENDING = 1;
    /** The status of an operation that has taken effect, below its answer. */
    private static final int ANSWERED = 2;

    /**
     * What the history allows.
     *
     * @param pending for each client the code of its operation that has not ended, or 0
     * @param configurations in ascending order: the value, and above it for each client the status of its operation
     */
    private record Belief(int pending, List<Integer> configurations) {}

    private final boolean losses;
    private final int clients;
    private final Map<Belief, Integer> numbers = new HashMap<>();
    private final List<Belief> beliefs = new ArrayList<>();
    private final Map<Long, Integer> afterBegin = new HashMap<>();
    private final Map<Long, Integer> afterAnswer = new HashMap<>();

    /**
     * Makes a monitor of one key, whose history has not begun.
     *
     * @param clients at most 4; each has one operation at a time
     * @param losses whether objects may be lost
     */
    public LinearizabilityMonitor(int clients, boolean losses) {
        this.clients = clients;
        this.losses = losses;
    }

    /** The belief before the first operation. */
    public int start(int value) {
        return number(0, allowed(0, List.of(value)));
    }

    /** The belief after the beginning of a client's operation. */
    public int begin(int belief, int client, ModelOperation operation) {
        return afterBegin.computeIfAbsent(event(belief, client, operation.code()), _ -> {
            Belief before = beliefs.get(belief);
            int pending = before.pending | operation.code() << client * CODE_BITS;
            List<Integer> with = new ArrayList<>();
            for (int configuration : before.configurations) {
                with.add(withStatus(configuration, client, PENDING));
            }
            return number(pending, allowed(pending, with));
        });
    }

    /** The belief after the answer of a client's operation, or {@link #WRONG}. */
    public int end(int belief, int client, int answer) {
        return afterAnswer.computeIfAbsent(event(belief, client, answer), _ -> {
            Belief before = beliefs.get(belief);
            Set<Integer> left = new TreeSet<>();
            for (int configuration : before.configurations) {
                if (answer == ModelOperation.LOST || status(configuration, client) == ANSWERED + answer) {
                    left.add(withStatus(configuration, client, 0));
                }
            }
            return left.isEmpty() ? WRONG : number(before.pending & ~(CODE_MASK << client * CODE_BITS), left);
        });
    }

    /** Whether the key may have a value now. */
    public boolean allows(int belief, int value) {
        for (int configuration : beliefs.get(belief).configurations) {
            if ((configuration & ModelOperation.MOST_VALUE) == value) {
                return true;
            }
        }
        return false;
    }

    private static long event(int belief, int client, int what) {
        return ((long) belief << Byte.SIZE | client) << Byte.SIZE | what;
    }

    private int number(int pending, Collection<Integer> configurations) {
        return numbers.computeIfAbsent(new Belief(pending, List.copyOf(configurations)), belief -> {
            beliefs.add(belief);
            return beliefs.size() - 1;
        });
    }

    /** Adds all configurations that follow when operations take effect, or the object is lost. */
    private Set<Integer> allowed(int pending, List<Integer> from) {
        Set<Integer> found = new TreeSet<>(from);
        List<Integer> next = new ArrayList<>(found);
        while (!next.isEmpty()) {
            int configuration = next.removeLast();
            int value = configuration & ModelOperation.MOST_VALUE;
            if (losses) {
                addTo(found, next, configuration - value);
            }
            for (int client = 0; client < clients; client++) {
                if (status(configuration, client) == PENDING) {
                    int code = (pending >> client * CODE_BITS & CODE_MASK) - 1;
                    int kind = code >> VALUE_BITS;
                    int after = ModelOperation.valueAfter(kind, code & ModelOperation.MOST_VALUE, value);
                    int answered = withStatus(configuration, client, ANSWERED + ModelOperation.answer(kind, value));
                    addTo(found, next, answered - value + after);
                }
            }
        }
        return found;
    }

    private static void addTo(Set<Integer> found, List<Integer> next, int configuration) {
        if (found.add(configuration)) {
            next.add(configuration);
        }
    }

    private static int status(int configuration, int client) {
        return configuration >> VALUE_BITS + client * STATUS_BITS & STATUS_MASK;
    }

    private static int withStatus(int configuration, int client, int status) {
        int at = VALUE_BITS + client * STATUS_BITS;
        return configuration & ~(STATUS_MASK << at) | status << at;
    }
}
