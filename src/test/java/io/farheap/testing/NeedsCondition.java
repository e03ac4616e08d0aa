package io.farheap.testing;

import static org.junit.platform.commons.support.AnnotationSupport.findAnnotation;

import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import io.farheap.verbs.ProtectionDomain;
import io.farheap.verbs.QueuePair;
import io.farheap.verbs.VerbsException;
import java.util.Optional;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Evaluates {@link Needs}. */
final class NeedsCondition implements ExecutionCondition {

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        Optional<Needs> needs = findAnnotation(context.getElement(), Needs.class);
        if (needs.isPresent()) {
            for (Need need : needs.get().value()) {
                if (!need.met()) {
                    return ConditionEvaluationResult.disabled(need.reason());
                }
            }
            if (needs.get().inlineBytes() > 0 && !takesInline(needs.get().inlineBytes())) {
                return ConditionEvaluationResult.disabled(
                        "needs a device that takes " + needs.get().inlineBytes() + " bytes inline");
            }
        }
        return ConditionEvaluationResult.enabled("");
    }

    private static boolean takesInline(int bytes) {
        try (Context context = Devices.open(TestDevice.client());
                ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue completions = context.createCompletionQueue(1, 1, null);
                QueuePair queuePair = domain.createQueuePair(completions, 1, bytes)) {
            return queuePair.inlineBytes() >= bytes;
        } catch (VerbsException e) {
            return false;
        }
    }
}
