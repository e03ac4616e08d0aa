package io.farheap.cache;

import io.farheap.procedure.Call;

/** Procedures of the tests. */
final class TestProcedures {

    private TestProcedures() {}

    /** Sums the amounts since a day in a list of {next, day, amount} that ends with 0. */
    static final class SumSince {

        public static int run(Call call) {
            long day = call.argument(8);
            long sum = 0;
            for (long node = call.argument(0); node != 0; node = call.getLong(node)) {
                if (call.getLong(node + 8) >= day) {
                    sum += call.getLong(node + 16);
                }
            }
            call.result(0, sum);
            return 0;
        }
    }

    /** Adds the second argument to the word at the first; the result is the word's former value. */
    static final class Add {

        public static int run(Call call) {
            call.result(0, call.getAndAdd(call.argument(0), call.argument(8)));
            return 1;
        }
    }

    /** Adds the second argument to the word at the first by comparing and setting; returns how often it tried again. */
    static final class Set {

        public static int run(Call call) {
            long address = call.argument(0);
            int tries = 0;
            while (true) {
                long found = call.getLong(address);
                if (call.compareAndSet(address, found, found + call.argument(8))) {
                    return tries;
                }
                tries++;
            }
        }
    }

    /** Adds one to each of N words from an address on, a stride apart, by loads and stores. */
    static final class Increment {

        public static int run(Call call) {
            long address = call.argument(0);
            long stride = call.argument(16);
            int count = (int) call.argument(8);
            for (int i = 0; i < count; i++) {
                call.putLong(address, call.getLong(address) + 1);
                address += stride;
            }
            return count;
        }
    }

    /** Sums N words from an address on, a stride apart. */
    static final class Sum {

        public static int run(Call call) {
            long address = call.argument(0);
            long sum = 0;
            for (long i = call.argument(8); i > 0; i--) {
                sum += call.getLong(address);
                address += call.argument(16);
            }
            call.result(0, sum);
            return 0;
        }
    }

    /** Stores a word. */
    static final class Store {

        public static int run(Call call) {
            call.putLong(call.argument(0), call.argument(8));
            return 0;
        }
    }

    /** Loads a word. */
    static final class Load {

        public static int run(Call call) {
            call.result(0, call.getLong(call.argument(0)));
            return (int) call.argument(0);
        }
    }

    /** Counts, without an end if the argument is negative; then loads a word. */
    static final class Spin {

        public static int run(Call call) {
            long turns = call.argument(8);
            long sum = 0;
            for (long i = 0; i != turns; i++) {
                sum += i ^ sum << 1;
            }
            call.result(0, call.getLong(call.argument(0)) + (sum & 0));
            return 2;
        }
    }

    /** Counts as {@link Spin} does; then adds the third argument to the word at the first. */
    static final class SpinThenAdd {

        public static int run(Call call) {
            long turns = call.argument(8);
            long sum = 0;
            for (long i = 0; i != turns; i++) {
                sum += i ^ sum << 1;
            }
            call.result(0, call.getAndAdd(call.argument(0), call.argument(16)) + (sum & 0));
            return 3;
        }
    }

    static final class Divide {

        public static int run(Call call) {
            return (int) (call.argument(0) / call.argument(8));
        }
    }

    /** Returns the scratch word that the call before left, and stores its own argument there. */
    static final class Remember {

        public static int run(Call call) {
            call.result(0, call.scratch(0));
            call.scratch(0, call.argument(0));
            return 0;
        }
    }

    /** A procedure that is refused, because it allocates. */
    static final class Allocates {

        public static int run(Call call) {
            return new int[(int) call.argument(0)].length;
        }
    }

    /** Sums the words of a piece of a range. */
    static final class SumOfPiece {

        public static int run(Call call) {
            long at = call.argument(0);
            long sum = 0;
            for (long end = at + call.argument(8); at < end; at += 8) {
                sum += call.getLong(at);
            }
            call.result(0, sum);
            return (int) (call.argument(8) >> 3);
        }
    }

    /** Adds the third argument to each word of a piece, by loads and stores; the result is how many words it has. */
    static final class AddToPiece {

        public static int run(Call call) {
            long at = call.argument(0);
            long added = call.argument(16);
            for (long end = at + call.argument(8); at < end; at += 8) {
                call.putLong(at, call.getLong(at) + added);
            }
            call.result(0, call.argument(8) >> 3);
            return 0;
        }
    }

    /**
     * The hash code of a piece's bytes as of a list of them that begins with 0, and 31 to the power of their number.
     */
    static final class HashOfPiece {

        public static int run(Call call) {
            long at = call.argument(0);
            long hash = 0;
            long power = 1;
            for (long end = at + call.argument(8); at < end; at++) {
                hash = 31 * hash + call.getByte(at);
                power *= 31;
            }
            call.result(0, hash);
            call.result(8, power);
            return 0;
        }
    }

    /** Loops as often as the third argument says; the result is 1. */
    static final class SpinInPiece {

        public static int run(Call call) {
            long turns = call.argument(16);
            long sum = 0;
            for (long i = 0; i != turns; i++) {
                sum += i ^ sum << 1;
            }
            call.result(0, 1 + (sum & 0));
            return 0;
        }
    }

    /** Fails, as the fourth argument says, if the address in the third is in the piece; else stores 1 there. */
    static final class TrapInPiece {

        static final int DIVIDE = 0;
        static final int SPIN = 1;
        static final int LEAVE = 2;
        static final int OVERFLOW = 3;

        public static int run(Call call) {
            long at = call.argument(0);
            long trap = call.argument(16);
            int kind = (int) call.argument(24);
            long sum = 0;
            if (trap >= at && trap < at + call.argument(8)) {
                if (kind == DIVIDE) {
                    return (int) (at / (kind - DIVIDE));
                }
                for (long i = 0; kind == SPIN && i >= 0; i++) {
                    sum += i;
                }
                if (kind == LEAVE) {
                    sum = call.getLong(at - 8);
                }
                call.result(8, sum);
            }
            call.putLong(at, 1);
            call.result(0, 1);
            return 0;
        }
    }
}
