package io.farheap.kv.model;

/**
 * An operation of a client on a key.
 *
 * @param key 0 or 1, of one hash; evictions and moves have none
 * @param value of a set or an add: 1 to {@link #MOST_VALUE}; else 0
 */
public record ModelOperation(Kind kind, int key, int value) {

    /** The value of a key that is absent. */
    public static final int ABSENT = 0;

    public static final int MOST_VALUE = 7;

    /** The answers of operations other than gets, whose answer is the value. */
    public static final int NO = 0;

    public static final int YES = 1;
    /** The answer of a request of which nothing is known: it has taken effect, or never does. */
    public static final int LOST = 15;

    private static final Kind[] KINDS = Kind.values();
    private static final int VALUE_BITS = 3;

    /** What an operation does, and how it is answered. */
    public enum Kind {
        GET,
        SET,
        ADD,
        DELETE,
        /** Stores the same value in another block. */
        TOUCH,
        /** Takes an object of any key out of the table; its client does not say which. */
        EVICT,
        /** As a touch, for an object of any key; it begins with a slot. */
        MOVE;

        /** Whether the operation has a new block from its beginning. */
        boolean stores() {
            return this == SET || this == ADD;
        }

        /** Whether the operation is about a key, and so a part of that key's history. */
        boolean hasKey() {
            return this != EVICT && this != MOVE;
        }
    }

    public static ModelOperation get(int key) {
        return new ModelOperation(Kind.GET, key, ABSENT);
    }

    public static ModelOperation set(int key, int value) {
        return new ModelOperation(Kind.SET, key, value);
    }

    public static ModelOperation add(int key, int value) {
        return new ModelOperation(Kind.ADD, key, value);
    }

    public static ModelOperation delete(int key) {
        return new ModelOperation(Kind.DELETE, key, ABSENT);
    }

    static ModelOperation touch(int key) {
        return new ModelOperation(Kind.TOUCH, key, ABSENT);
    }

    static ModelOperation evict() {
        return new ModelOperation(Kind.EVICT, 0, ABSENT);
    }

    static ModelOperation move() {
        return new ModelOperation(Kind.MOVE, 0, ABSENT);
    }

    /** A number of six bits for kind and value, not 0. */
    int code() {
        return (kind.ordinal() << VALUE_BITS | value) + 1;
    }

    /** The key's value after an operation that finds {@code before}. */
    static int valueAfter(int kind, int argument, int before) {
        return switch (KINDS[kind]) {
            case GET, TOUCH, EVICT, MOVE -> before;
            case SET -> argument;
            case ADD -> before == ABSENT ? argument : before;
            case DELETE -> ABSENT;
        };
    }

    /** The answer of an operation that finds {@code before}. */
    static int answer(int kind, int before) {
        return switch (KINDS[kind]) {
            case GET -> before;
            case SET, EVICT, MOVE -> YES;
            case ADD -> before == ABSENT ? YES : NO;
            case DELETE, TOUCH -> before == ABSENT ? NO : YES;
        };
    }

    public String answerText(int answer) {
        if (answer == LOST) {
            return "lost";
        }
        return switch (kind) {
            case GET -> answer == ABSENT ? "absent" : "value " + answer;
            case SET, EVICT, MOVE -> "done";
            case ADD -> answer == YES ? "done" : "exists";
            case DELETE, TOUCH -> answer == YES ? "done" : "absent";
        };
    }

    static String keyText(int key) {
        return key == 0 ? "A" : "B";
    }

    @Override
    public String toString() {
        return switch (kind) {
            case EVICT -> "evict";
            case MOVE -> "move";
            case SET -> "set " + keyText(key) + "=" + value;
            case ADD -> "add " + keyText(key) + "=" + value;
            case GET -> "get " + keyText(key);
            case DELETE -> "delete " + keyText(key);
            case TOUCH -> "touch " + keyText(key);
        };
    }
}
