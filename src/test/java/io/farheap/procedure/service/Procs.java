package io.farheap.procedure.service;

import io.farheap.procedure.Call;
import io.farheap.procedure.translate.Translator;
import io.farheap.procedure.translate.running.Translation;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Objects;

/** Procedures of these tests, and their class files. */
final class Procs {

    private Procs() {}

    /** Follows pointers, arguments {first, hops}; the result is the last node's address. */
    static final class Hops {
        public static int run(Call call) {
            long node = call.argument(0);
            for (long hops = call.argument(8); hops > 0; hops--) {
                node = call.getLong(node);
            }
            call.result(0, node);
            return 0;
        }
    }

    /** Takes as many turns as the first argument says; the result is the second argument. */
    static final class Spin {
        public static int run(Call call) {
            long sum = call.argument(8);
            for (long i = call.argument(0); i != 0; i--) {
                sum += i & 1;
                sum -= i & 1;
            }
            call.result(0, sum);
            return 0;
        }
    }

    /** Adds 1 to the word at the first argument, and then takes as many turns as the second says. */
    static final class AddThenSpin {
        public static int run(Call call) {
            long sum = call.getAndAdd(call.argument(0), 1);
            for (long i = call.argument(8); i != 0; i--) {
                sum += i & 1;
                sum -= i & 1;
            }
            call.result(0, sum);
            return 0;
        }
    }

    /** Adds the second argument to the word at the first; the result is the word's value before. */
    static final class Add {
        public static int run(Call call) {
            call.result(0, call.getAndAdd(call.argument(0), call.argument(8)));
            return 0;
        }
    }

    /** A class that every server refuses, because it allocates. */
    static final class Allocates {
        public static int run(Call call) {
            return new int[(int) call.argument(0)].length;
        }
    }

    static byte[] file(Class<?> type) {
        String name = type.getName().substring(type.getPackageName().length() + 1) + ".class";
        try (InputStream in = type.getResourceAsStream(name)) {
            return Objects.requireNonNull(in, name).readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Translation translated(Class<?> type) {
        return Translator.translate(file(type), Translator.Limits.DEFAULT);
    }
}
