package io.farheap.kv.model;

import java.util.SplittableRandom;

/** Draws small scenarios from a seed: objects, pointers, programs, and what may fail. */
final class ScenarioGenerator {

    private static final int A = 0;
    private static final int B = 1;
    private static final int MOST_CLIENTS = 3;

    private final SplittableRandom random;

    private ScenarioGenerator(long seed) {
        random = new SplittableRandom(seed);
    }

    static ModelScenario scenario(long seed) {
        return new ScenarioGenerator(seed).scenario();
    }

    /** True once in {@code times}. */
    private boolean once(int times) {
        return random.nextInt(times) == 0;
    }

    private ModelScenario scenario() {
        int slots = 1 + random.nextInt(2);
        int blocks = slots + 1 + random.nextInt(2);
        ModelScenario scenario = new ModelScenario(slots, blocks).withLosses();
        boolean far = once(3);
        int farBlock = blocks - 1;
        boolean hasA = !once(4);
        boolean hasB = slots == 2 && once(3);
        if (hasA) {
            scenario.object(0, A, 1, far && once(2) ? farBlock : 0);
        }
        if (hasB) {
            scenario.object(1, B, 2, 1);
        }
        int clients = 2 + random.nextInt(MOST_CLIENTS - 1);
        for (int client = 0; client < clients; client++) {
            ModelOperation[] program = new ModelOperation[1 + random.nextInt(client == 0 ? 3 : 2)];
            for (int i = 0; i < program.length; i++) {
                program[i] = operation();
            }
            scenario.client(program);
            if (hasA && once(3)) {
                scenario.knows(client, 0);
            }
            if (hasB && once(4)) {
                scenario.knows(client, 1);
            }
            if (once(3)) {
                scenario.notes(client);
            }
            if (once(5)) {
                scenario.losingLease(client);
            }
        }
        if (once(2)) {
            scenario.openingAgain();
        }
        if (once(3)) {
            scenario.withDeaths(1);
        }
        if (far && once(2)) {
            scenario.cutOff(farBlock, random.nextInt(clients));
        } else if (far) {
            scenario.far(farBlock);
        }
        if (far && once(2)) {
            return scenario.leaving();
        }
        return once(2) ? scenario.withEras(1) : scenario;
    }

    private ModelOperation operation() {
        int key = once(6) ? B : A;
        int value = 3 + random.nextInt(ModelOperation.MOST_VALUE - 2);
        return switch (random.nextInt(12)) {
            case 0, 1, 2, 3 -> ModelOperation.get(key);
            case 4, 5, 6 -> ModelOperation.set(key, value);
            case 7 -> ModelOperation.add(key, value);
            case 8 -> ModelOperation.delete(key);
            case 9 -> ModelOperation.touch(key);
            case 10 -> ModelOperation.move();
            default -> ModelOperation.evict();
        };
    }
}
