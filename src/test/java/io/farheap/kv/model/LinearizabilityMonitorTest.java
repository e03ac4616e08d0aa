package io.farheap.kv.model;

import static io.farheap.kv.model.ModelOperation.ABSENT;
import static io.farheap.kv.model.ModelOperation.LOST;
import static io.farheap.kv.model.ModelOperation.NO;
import static io.farheap.kv.model.ModelOperation.YES;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class LinearizabilityMonitorTest {

    private LinearizabilityMonitor monitor = new LinearizabilityMonitor(3, false);
    private int belief = monitor.start(ABSENT);

    private void begin(int client, ModelOperation operation) {
        belief = monitor.begin(belief, client, operation);
    }

    /** @return whether the answer is right */
    private boolean end(int client, int answer) {
        belief = monitor.end(belief, client, answer);
        return belief != LinearizabilityMonitor.WRONG;
    }

    private boolean alone(int client, ModelOperation operation, int answer) {
        begin(client, operation);
        return end(client, answer);
    }

    @Test
    void operationsAtTheSameTimeHaveAnyOrder() {
        begin(0, ModelOperation.set(0, 1));
        begin(1, ModelOperation.set(0, 2));
        begin(2, ModelOperation.get(0));
        assertTrue(end(2, 2));
        assertTrue(end(0, YES));
        assertTrue(end(1, YES));
        assertTrue(alone(2, ModelOperation.get(0), 1));
    }

    @Test
    void aValueThatWasReplacedDoesNotComeBack() {
        assertTrue(alone(0, ModelOperation.set(0, 1), YES));
        assertTrue(alone(1, ModelOperation.set(0, 2), YES));
        assertFalse(alone(2, ModelOperation.get(0), 1));
    }

    @Test
    void oneOfTwoDeletesHasTakenTheObjectOut() {
        assertTrue(alone(0, ModelOperation.set(0, 1), YES));
        begin(0, ModelOperation.delete(0));
        begin(1, ModelOperation.delete(0));
        assertTrue(end(0, YES));
        assertFalse(end(1, YES));
    }

    @Test
    void oneOfTwoAddsSucceeds() {
        begin(0, ModelOperation.add(0, 1));
        begin(1, ModelOperation.add(0, 2));
        assertTrue(end(0, YES));
        assertFalse(end(1, YES));
    }

    @Test
    void aDeadClientsOperationMayTakeEffectLater() {
        begin(0, ModelOperation.set(0, 1));
        assertTrue(alone(1, ModelOperation.get(0), ABSENT));
        assertTrue(alone(1, ModelOperation.get(0), 1));
        assertFalse(alone(1, ModelOperation.get(0), ABSENT));
    }

    @Test
    void aLostOperationHasTakenEffectOrNeverDoes() {
        assertTrue(alone(0, ModelOperation.set(0, 1), LOST));
        assertTrue(alone(1, ModelOperation.get(0), ABSENT));
        assertFalse(alone(1, ModelOperation.get(0), 1));
    }

    @Test
    void anObjectThatMayBeLostDoesNotComeBack() {
        assertTrue(alone(0, ModelOperation.set(0, 1), YES));
        assertFalse(alone(0, ModelOperation.delete(0), NO));
        monitor = new LinearizabilityMonitor(3, true);
        belief = monitor.start(ABSENT);
        assertTrue(alone(0, ModelOperation.set(0, 1), YES));
        assertTrue(alone(0, ModelOperation.delete(0), NO));
        assertFalse(alone(0, ModelOperation.get(0), 1));
    }
}
