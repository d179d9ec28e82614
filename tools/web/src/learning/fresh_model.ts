// A model that has learned nothing yet, for a program that only sends readings at first.

import type { Model } from "../model";
import type { Learner } from "../page_data";
import { Engine } from "./engine";

const BYTES = 16384; // bytes of the learner

export async function freshModel(
  learner: Learner,
  featureNames: readonly string[],
  classNames: readonly string[],
): Promise<Model> {
  const shape = { features: featureNames.length, classes: classNames.length };
  const parameters = { ...shape, bytes: BYTES, seed: 0 };
  const engine = await Engine.start(learner.learner_class, parameters);
  try {
    const units = featureNames.map(() => ({ offset: 0, digits: 0 }));
    const model = { learner, parameters, featureNames, classNames, units, stream: "" };
    return { ...model, samples: 0, accuracy: 0, crc32: 0, saved: await engine.saved() };
  } finally {
    engine.stop();
  }
}
